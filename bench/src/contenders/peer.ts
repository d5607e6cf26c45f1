// `@rekog/mcp-nest`, set up as its README says.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { McpController, McpStrategy, StreamableHttpTransport, Tool } from '@rekog/mcp-nest';
import { addMethod, textResult, toolsOf } from './catalog.js';
import { createApp, readSetup, serve } from './setup.js';

const setup = readSetup();

@McpController()
class Tools {}
for (const [index, { name, description, schema }] of toolsOf(setup.tools).entries()) {
  const method = `tool${index}`;
  const tool = Tool({ name, description, parameters: schema });
  addMethod(Tools.prototype, method, ({ text }: { text: string }) => textResult(text), tool);
  Payload()(Tools.prototype, method, 0);
}

const isSession = setup.era === '2025-11-25';
const strategy = new McpStrategy({
  name: 'bench',
  version: '1.0.0',
  transports: [new StreamableHttpTransport({ statefulMode: isSession, enableJsonResponse: true })],
});

@Module({ controllers: [Tools] })
class App {}

const app = await createApp(App, setup.platform);
strategy.setHttpAdapter(app.getHttpAdapter());
app.connectMicroservice({ strategy });
await app.startAllMicroservices();
await serve(app);
