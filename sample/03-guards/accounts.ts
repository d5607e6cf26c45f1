import { Controller, Delete, Get, Inject, Injectable, Param, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Args, Tool } from 'nestjs-mcp';
import { AccountNotFoundError } from './account-not-found.filter.js';
import { Public, Roles, type AuthenticatedRequest } from './auth.guard.js';

@Injectable()
export class Accounts {
  private readonly balances = new Map([
    ['1', 100],
    ['2', 250],
  ]);

  balance(id: string): number {
    const balance = this.balances.get(id);
    if (balance === undefined) throw new AccountNotFoundError(id);
    return balance;
  }

  close(id: string): string {
    const balance = this.balance(id);
    this.balances.delete(id);
    return `Closed account ${id}, paid out ${balance}`;
  }
}

/** One instance for each HTTP request, whether that is a REST call or carries an MCP call. */
@Injectable({ scope: Scope.REQUEST })
export class CurrentUser {
  constructor(@Inject(REQUEST) private readonly request: AuthenticatedRequest) {}

  get name(): string | undefined {
    return this.request.user?.name;
  }
}

@Controller('accounts')
export class AccountsController {
  constructor(private readonly accounts: Accounts) {}

  @Get(':id')
  balance(@Param('id') id: string) {
    return { balance: this.accounts.balance(id) };
  }

  @Delete(':id')
  @Roles('admin')
  close(@Param('id') id: string) {
    return { message: this.accounts.close(id) };
  }
}

@Injectable()
export class AccountTools {
  constructor(
    private readonly accounts: Accounts,
    private readonly user: CurrentUser,
  ) {}

  @Tool({ description: 'Tells who is calling', annotations: { readOnlyHint: true } })
  whoAmI() {
    return this.user.name;
  }

  @Tool({ description: 'Reads the balance of an account', annotations: { readOnlyHint: true } })
  balance(@Args('id') id: string) {
    return this.accounts.balance(id);
  }

  @Tool({ description: 'Closes an account', annotations: { destructiveHint: true } })
  @Roles('admin')
  closeAccount(@Args('id') id: string) {
    return this.accounts.close(id);
  }
}

@Public()
@Injectable()
export class StatusTools {
  @Tool({ description: 'Tells whether the bank is open', server: 'status' })
  status() {
    return 'open';
  }
}
