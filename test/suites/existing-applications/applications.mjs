// The public applications, and what is changed so that they start without a database server.

const REALWORLD_MAIN = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import { ApplicationModule } from './app.module';
import { ArticleController } from './article/article.controller';
import { ProfileController } from './profile/profile.controller';
import { UserController } from './user/user.controller';

const include = [ArticleController, ProfileController, UserController];

@Module({ imports: [ApplicationModule, McpModule.forRoot({ name: 'realworld', version: '1.0.0', routes: { include } })] })
class McpAppModule {}

async function bootstrap() {
  const app = await NestFactory.create(McpAppModule, { logger: ['error', 'warn', 'verbose'] });
  app.setGlobalPrefix('api');
  await app.listen(0, '127.0.0.1');
  console.log('Listening: ' + (await app.getUrl()));
}
void bootstrap();
`;

export const REALWORLD = {
  name: 'realworld',
  dependencies: {
    '@nestjs/cli': '^11.0.0',
    '@nestjs/common': '^11.1.0',
    '@nestjs/core': '^11.1.0',
    '@nestjs/platform-express': '^11.1.0',
    '@nestjs/swagger': '^11.2.0',
    '@nestjs/typeorm': '8.1.4',
    '@types/node': '^20.0.0',
    argon2: '^0.44.0',
    'class-transformer': '^0.5.1',
    'class-validator': '^0.14.0',
    jsonwebtoken: '^8.5.1',
    'passport-jwt': '^4.0.0',
    'reflect-metadata': '^0.2.0',
    rxjs: '^7.8.0',
    slug: '^1.1.0',
    typeorm: '0.2.45',
    typescript: '~5.9.0',
  },
  files: { 'src/config.ts': "export const SECRET = 'secret-key';\n", 'src/mcp.ts': REALWORLD_MAIN },
  edits: {
    'src/app.module.ts': [
      [
        'TypeOrmModule.forRoot()',
        "TypeOrmModule.forRoot({ type: 'sqljs', entities: [__dirname + '/**/*.entity.js'], synchronize: true })",
      ],
    ],
    'src/article/article.entity.ts': [["type: 'timestamp'", "type: 'datetime'"]],
  },
};

const BOILERPLATE_MAIN = `
import 'dotenv/config';
import { ClassSerializerInterceptor, Module, ValidationPipe, VersioningType } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { useContainer } from 'class-validator';
import { McpModule } from 'nestjs-mcp';
import { AppModule } from './app.module';
import { AuthController } from './auth/auth.controller';
import { RoleSeedModule } from './database/seeds/relational/role/role-seed.module';
import { RoleSeedService } from './database/seeds/relational/role/role-seed.service';
import { StatusSeedModule } from './database/seeds/relational/status/status-seed.module';
import { StatusSeedService } from './database/seeds/relational/status/status-seed.service';
import { UserSeedModule } from './database/seeds/relational/user/user-seed.module';
import { UserSeedService } from './database/seeds/relational/user/user-seed.service';
import { HomeController } from './home/home.controller';
import { UsersController } from './users/users.controller';
import { ResolvePromisesInterceptor } from './utils/serializer.interceptor';
import validationOptions from './utils/validation-options';

const include = [UsersController, AuthController, HomeController];

@Module({
  imports: [
    AppModule,
    RoleSeedModule,
    StatusSeedModule,
    UserSeedModule,
    McpModule.forRoot({ name: 'boilerplate', version: '1.0.0', routes: { include } }),
  ],
})
class McpAppModule {}

async function bootstrap() {
  const app = await NestFactory.create(McpAppModule, { logger: ['error', 'warn', 'verbose'] });
  useContainer(app.select(McpAppModule), { fallbackOnErrors: true });
  app.setGlobalPrefix('api', { exclude: ['/'] });
  app.enableVersioning({ type: VersioningType.URI });
  app.useGlobalPipes(new ValidationPipe(validationOptions));
  app.useGlobalInterceptors(new ResolvePromisesInterceptor(), new ClassSerializerInterceptor(app.get(Reflector)));
  await app.listen(0, '127.0.0.1');
  for (const seed of [RoleSeedService, StatusSeedService, UserSeedService]) await app.get<any>(seed).run();
  console.log('Listening: ' + (await app.getUrl()));
}
void bootstrap();
`;

const ENVIRONMENT = `
NODE_ENV=development
APP_NAME=Boilerplate
APP_CORS_ORIGINS=http://localhost:3000
BACKEND_DOMAIN=http://localhost:3001
DATABASE_TYPE=sqljs
DATABASE_HOST=none
DATABASE_PORT=1
DATABASE_USERNAME=none
DATABASE_PASSWORD=none
DATABASE_NAME=
DATABASE_SYNCHRONIZE=true
FILE_DRIVER=local
MAIL_HOST=127.0.0.1
MAIL_PORT=1025
MAIL_IGNORE_TLS=true
MAIL_SECURE=false
MAIL_REQUIRE_TLS=false
MAIL_DEFAULT_EMAIL=noreply@example.com
MAIL_DEFAULT_NAME=Api
AUTH_JWT_SECRET=secret
AUTH_JWT_TOKEN_EXPIRES_IN=15m
AUTH_REFRESH_SECRET=secret_for_refresh
AUTH_REFRESH_TOKEN_EXPIRES_IN=30d
AUTH_FORGOT_SECRET=secret_for_forgot
AUTH_FORGOT_TOKEN_EXPIRES_IN=30m
AUTH_CONFIRM_EMAIL_SECRET=secret_for_confirm_email
AUTH_CONFIRM_EMAIL_TOKEN_EXPIRES_IN=1d
APPLE_APP_AUDIENCE=[]
`;

export const BOILERPLATE = {
  name: 'boilerplate',
  files: { '.env': ENVIRONMENT, 'src/mcp.ts': BOILERPLATE_MAIN },
  edits: {
    'src/auth/auth.controller.ts': [
      ['import { AuthService }', "import { Tool } from 'nestjs-mcp';\nimport { AuthService }"],
      ["  @Get('me')", "  @Tool({ name: 'auth_me', request: true })\n  @Get('me')"],
    ],
  },
};
