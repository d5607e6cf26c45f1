import {
  Injectable,
  Logger,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { tap } from 'rxjs';

@Injectable()
export class LoggingInterceptor implements NestInterceptor {
  private readonly logger = new Logger('Calls');

  intercept(context: ExecutionContext, next: CallHandler) {
    const call = `${context.getType<string>()} ${context.getClass().name}.${context.getHandler().name}`;
    return next.handle().pipe(tap({ complete: () => this.logger.log(call) }));
  }
}
