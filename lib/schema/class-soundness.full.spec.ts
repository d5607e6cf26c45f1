import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsDate,
  IsDateString,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsIP,
  IsNotEmpty,
  IsNotEmptyObject,
  IsNumber,
  IsOptional,
  IsPositive,
  IsString,
  IsUrl,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import * as fc from 'fast-check';
import { compileClass } from './class-compiler.js';
import { compileJsonSchema } from './json-schema-compiler.js';
import type { SchemaIo } from './types.js';

enum Status {
  Open = 'open',
  Done = 'done',
}
enum Level {
  Low,
  High,
}

class Address {
  @IsString() @Length(1, 8) street!: string;
  @Matches(/^\d{3,5}$/) @IsOptional() zip?: string;
}
class Line {
  @IsInt() @Min(1) @Max(5) qty!: number;
  @IsNumber() @IsPositive() price!: number;
  @ValidateNested({ each: true }) @Type(() => Line) @IsOptional() parts?: Line[];
}
class Order {
  @IsUUID() id!: string;
  @IsNotEmpty() @MaxLength(6) title!: string;
  @IsEmail() @IsOptional() email?: string;
  @IsUrl() @IsOptional() site?: string;
  @IsIP() @IsOptional() ip?: string;
  @IsDateString() @IsOptional() day?: string;
  @IsDate() @Type(() => Date) @IsOptional() due?: Date;
  @IsBoolean() urgent!: boolean;
  @IsEnum(Status) status!: Status;
  @IsEnum(Level) level!: Level;
  @IsIn(['a', 1, null]) choice!: unknown;
  @IsArray() @ArrayUnique() @ArrayMaxSize(3) @IsString({ each: true }) tags!: string[];
  @IsArray() @ArrayNotEmpty() @ValidateNested({ each: true }) @Type(() => Line) lines!: Line[];
  @ValidateNested() @Type(() => Address) address!: Address;
  @IsNotEmptyObject() @IsOptional() labels?: object;
}

const string = fc.string({ maxLength: 9 });
const iso = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
  .map(date => date.toISOString());
const anything = fc.jsonValue({ maxDepth: 1 });

const address = fc.record(
  { street: fc.oneof(string, fc.constant('😀'.repeat(8))), zip: fc.stringMatching(/^\d{3,5}$/) },
  { requiredKeys: ['street'] },
);
const { line } = fc.letrec(tie => ({
  line: fc.record(
    {
      qty: fc.integer({ min: 1, max: 5 }),
      price: fc.double({ min: Number.MIN_VALUE, max: 1e9, noNaN: true }),
      parts: fc.array(tie('line'), { maxLength: 2, depthIdentifier: 'parts' }),
    },
    { requiredKeys: ['qty', 'price'] },
  ),
}));
const REQUIRED = {
  id: fc.uuid(),
  title: fc.string({ maxLength: 7 }),
  urgent: fc.boolean(),
  status: fc.constantFrom('open', 'done'),
  level: fc.constantFrom(0, 1),
  choice: fc.constantFrom('a', 1, null),
  tags: fc.uniqueArray(string, { maxLength: 4 }),
  lines: fc.array(line, { minLength: 1, maxLength: 2 }),
  address,
};

/** The forms that the schema of an input asks for. */
const CANONICAL = {
  email: fc.emailAddress(),
  site: fc.webUrl(),
  ip: fc.oneof(fc.ipV4(), fc.ipV6()),
  day: fc.oneof(
    iso,
    iso.map(date => date.slice(0, 10)),
  ),
  due: iso,
  labels: fc.dictionary(string, anything),
};
/** Others that class-validator takes. */
const LOOSE = {
  email: fc.constantFrom('ünï@example.com', '"a b"@example.com', null),
  site: fc.constantFrom('example.com', 'www.example.com/ä', null),
  ip: fc.constantFrom('fe80::1%eth0', null),
  day: fc.constantFrom('2026', '2026-W01', '2026-01-01T10:00', null),
  due: fc.constant(null),
  labels: fc.constant(null),
};

/** Orders, half of them with something put in where it may not belong. */
const order = (forms: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .tuple(
      fc.record({ ...REQUIRED, ...forms }, { requiredKeys: Object.keys(REQUIRED) as never[] }),
      fc.option(fc.tuple(fc.constantFrom(...Object.keys(REQUIRED), 'extra'), anything), { freq: 1 }),
    )
    .map(([value, spoil]) => (spoil ? { ...value, [spoil[0]]: spoil[1] } : value));

it.each<[string, SchemaIo, Record<string, fc.Arbitrary<unknown>>]>([
  ['an input in the forms that its schema asks for', 'input', CANONICAL],
  ['a result in the same forms', 'output', CANONICAL],
  ['a result in any form that class-validator takes', 'output', LOOSE],
])('what a class accepts of %s, its JSON Schema accepts', async (_, io, forms) => {
  const { jsonSchema, validate } = await compileClass(Order, io);
  const byJsonSchema = compileJsonSchema(jsonSchema, io);
  const runs = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(order(forms), async value => {
      const result = await validate(value);
      runs[result.ok ? 'accepted' : 'refused']++;
      if (result.ok) expect(await byJsonSchema.validate(value)).toMatchObject({ ok: true });
    }),
    { numRuns: 500 },
  );
  expect(Math.min(runs.accepted, runs.refused)).toBeGreaterThan(50);
});
