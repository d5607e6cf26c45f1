const {
  PORT = '3000',
  HOST = '127.0.0.1',
  ALLOWED_HOSTS,
  DATABASE_URL,
  REDIS_URL,
  MCP_SECRET,
  ISSUER = 'http://127.0.0.1:4000',
  JWKS_URI = `${ISSUER}/jwks`,
  RESOURCE = `http://127.0.0.1:${PORT}/mcp`,
  NODE_ENV,
} = process.env;

/** What the environment says. */
export const settings = {
  port: Number(PORT),
  host: HOST,
  allowedHosts: ALLOWED_HOSTS?.split(','),
  databaseUrl: DATABASE_URL,
  redisUrl: REDIS_URL,
  secret: MCP_SECRET,
  issuer: ISSUER,
  jwksUri: JWKS_URI,
  resource: RESOURCE,
  isProduction: NODE_ENV === 'production',
};
