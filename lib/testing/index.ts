export { createTestClient, type TestClientOptions } from './create-test-client.js';
