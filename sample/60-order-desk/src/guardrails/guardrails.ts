import { Injectable, Logger } from '@nestjs/common';
import { deny, Sink, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { RateLimit } from 'nestjs-mcp/interceptors';

/** What models may do at the desk. `policy.yaml` decides which of it is active. */
@Injectable()
export class Guardrails {
  private readonly trail = new Logger('Audit');

  @Validator({ events: ['tools/call'], phase: 'request', when: { name: 'place_order' } })
  largeOrders({ payload, config }: InterceptorInvocation<'tools/call', 'request'>) {
    const most = Number(config?.['most']);
    const isSmall = Number(payload.arguments?.['quantity']) <= most;
    return (
      isSmall || deny(`A person has to place orders of more than ${most}`, { path: 'arguments.quantity' })
    );
  }

  @Validator({ events: ['tools/call'], phase: 'request', when: { name: 'cancel_order' } })
  politeReasons({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return !/stupid/i.test(String(payload.arguments?.['reason'])) || deny('The reason is not polite');
  }

  @Sink({ events: ['tools/call'], phase: 'request' })
  auditTrail({ payload, context }: InterceptorInvocation<'tools/call', 'request'>) {
    this.trail.log(`${context?.principal?.id ?? 'somebody'} calls ${payload.name}`);
  }
}

/** Orders of one caller, in a minute. */
export const OrderLimit = RateLimit({
  points: 30,
  duration: 60,
  key: 'principal',
  when: { name: 'place_order' },
});
