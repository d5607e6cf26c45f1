import { IsBoolean, IsIn } from 'class-validator';
import { Description } from 'nestjs-mcp';

export class Confirmation {
  @IsBoolean()
  @Description('Whether to go on')
  isSure!: boolean;
}

export class Target {
  @IsIn(['eu', 'us'])
  region!: string;
}
