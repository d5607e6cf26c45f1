import { Module } from '@nestjs/common';
import { OrdersModule } from '../orders/orders.module.js';
import { Reports } from './reports.js';

@Module({ imports: [OrdersModule], providers: [Reports] })
export class ReportsModule {}
