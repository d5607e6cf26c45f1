import { serverOf } from './peer.js';

it.each([
  ['http://[::1]:3000/mcp', '::1', 3000],
  ['https://mcp.example.com/mcp', 'mcp.example.com', 443],
  ['http://127.0.0.1/mcp', '127.0.0.1', 80],
])('the server of %s has the address %s and the port %d', (url, address, port) => {
  expect(serverOf({ side: 'client', name: 'shop', url })).toEqual({
    'server.address': address,
    'server.port': port,
  });
});
