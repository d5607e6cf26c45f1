import { Injectable, UseGuards } from '@nestjs/common';
import { Args, HeaderParam, Tool } from 'nestjs-mcp';
import { QueryDto } from './query.dto.js';
import { REGION, RegionGuard } from './region.guard.js';

@Injectable()
export class Database {
  @Tool({ description: 'Asks the database of a region' })
  @UseGuards(RegionGuard)
  query(@Args() { sql }: QueryDto, @HeaderParam('Region') region: string) {
    return `${REGION} answers for ${region}: ${sql}`;
  }
}
