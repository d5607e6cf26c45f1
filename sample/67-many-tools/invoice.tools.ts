import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { Toolset } from 'nestjs-mcp/toolsets';
import { IdDto } from './id.dto.js';

@Toolset('billing')
@Injectable()
export class InvoiceTools {
  @Tool({
    name: 'list_invoices',
    description: 'Lists the invoices that are not paid',
    annotations: { readOnlyHint: true },
  })
  list() {
    return 'invoice 7: 120 €';
  }

  @Tool({ name: 'pay_invoice', description: 'Pays an invoice' })
  pay(@Args() { id }: IdDto) {
    return `Invoice ${id} is paid`;
  }
}
