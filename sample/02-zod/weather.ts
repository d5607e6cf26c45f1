import { Injectable, NotFoundException } from '@nestjs/common';
import { Args, Prompt, Tool } from 'nestjs-mcp';
import { z } from 'zod';

const City = z.enum(['Amsterdam', 'Athens', 'Lisbon']);

const ForecastQuery = z.object({
  city: City.describe('Where'),
  days: z.number().int().min(1).max(7).default(3).describe('How many days ahead'),
});

const Forecast = z.object({
  city: City,
  days: z.array(
    z.object({ day: z.number().int(), celsius: z.number(), sky: z.enum(['sun', 'clouds', 'rain']) }),
  ),
});

@Injectable()
export class Weather {
  @Tool({
    description: 'Forecasts the weather of a city',
    inputSchema: ForecastQuery,
    outputSchema: Forecast,
  })
  forecast(@Args() { city, days }: z.output<typeof ForecastQuery>): z.input<typeof Forecast> {
    if (city === 'Athens') throw new NotFoundException('The station in Athens is silent');
    return {
      city,
      days: Array.from({ length: days }, (_, day) => ({ day: day + 1, celsius: 20 + day, sky: 'sun' })),
    };
  }

  @Prompt({
    description: 'Plans a trip',
    argsSchema: z.object({ city: City, style: z.enum(['cheap', 'comfortable']).optional() }),
  })
  trip(@Args() { city, style = 'cheap' }: { city: string; style?: string }) {
    return `Look up the weather in ${city}, then plan a ${style} weekend there.`;
  }
}
