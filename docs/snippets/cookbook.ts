import { randomUUID } from 'node:crypto';
import {
  Controller,
  Injectable,
  Logger,
  NotFoundException,
  Param,
  PayloadTooLargeException,
  Put,
  Req,
} from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { IsBoolean, IsInt, IsString } from 'class-validator';
import type { Request } from 'express';
import {
  Args,
  Ctx,
  McpContext,
  Sink,
  Tool,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { RateLimit } from 'nestjs-mcp/interceptors';
import { DataSource } from 'typeorm';

// #region upload
const MAX_BYTES = 10_000_000;

@Injectable()
export class Uploads {
  private readonly files = new Map<string, Buffer | undefined>();

  @Tool({
    description: 'Opens an upload: send the file there by PUT, then import it',
  })
  openUpload() {
    const id = randomUUID();
    this.files.set(id, undefined);
    return { id, url: `https://shop.example.com/uploads/${id}` };
  }

  @Tool({ description: 'Imports the products of an uploaded file' })
  importProducts(@Args('id') id: string) {
    const file = this.files.get(id);
    if (!file) throw new NotFoundException('There is no file yet');
    this.files.delete(id);
    return `${file.toString('utf8').trim().split('\n').length} products`;
  }

  receive(id: string, file: Buffer) {
    if (!this.files.has(id)) throw new NotFoundException();
    this.files.set(id, file);
  }
}

@Controller('uploads')
export class UploadsController {
  constructor(private readonly uploads: Uploads) {}

  @Put(':id')
  async receive(@Param('id') id: string, @Req() request: Request) {
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of request as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > MAX_BYTES) throw new PayloadTooLargeException();
      parts.push(part);
    }
    this.uploads.receive(id, Buffer.concat(parts));
  }
}
// #endregion upload

// #region typeorm
export class TransferDto {
  @IsString()
  from!: string;

  @IsString()
  to!: string;

  @IsInt()
  amount!: number;
}

@Injectable()
export class StockTools {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  @Tool({ description: 'Moves goods from one shelf to another' })
  move(@Args() { from, to, amount }: TransferDto) {
    return this.database.transaction(async manager => {
      await manager.decrement('shelf', { name: from }, 'amount', amount);
      await manager.increment('shelf', { name: to }, 'amount', amount);
      return `Moved ${amount}`;
    });
  }
}
// #endregion typeorm

// #region plan
const COSTS: Readonly<Record<string, number>> = { free: 10, paid: 1 };

/** 60 points a minute: 6 calls of a free plan, 60 of a paid one. */
export const PlanLimit = RateLimit({
  points: 60,
  duration: 60,
  cost: ({ context }) =>
    COSTS[String(context?.principal?.claims?.['plan'])] ?? 10,
});
// #endregion plan

// #region audit
@Injectable()
export class AuditTrail {
  private readonly trail = new Logger('Audit');

  @Sink({ events: ['tools/call'], phase: 'response' })
  record(invocation: InterceptorInvocation<'tools/call', 'response'>) {
    const { context, request, payload } = invocation;
    const who = context?.principal?.id ?? 'anonymous';
    const outcome = payload.isError ? 'failed' : 'done';
    this.trail.log(`${who}: ${request?.name} ${outcome}`);
  }
}
// #endregion audit

// #region approve
export class ApprovalDto {
  @IsBoolean()
  approved!: boolean;
}

@Injectable()
export class CustomerTools {
  private readonly customers = new Set(['ada', 'lin']);

  @Tool({
    description: 'Deletes a customer, after the user has approved it',
    annotations: { destructiveHint: true },
  })
  async deleteCustomer(@Args('name') name: string, @Ctx() ctx: McpContext) {
    const { action, content } = await ctx.elicit('approval', {
      message: `Delete ${name} with all orders?`,
      schema: ApprovalDto,
    });
    if (action !== 'accept' || !content.approved) return 'Nothing was deleted';
    this.customers.delete(name);
    return `${name} was deleted`;
  }
}
// #endregion approve
