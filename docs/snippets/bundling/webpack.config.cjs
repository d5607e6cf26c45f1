// #region config
module.exports = {
  target: 'node',
  mode: 'production',
  entry: './dist/main.js',
  output: { filename: 'main.js', path: `${__dirname}/bundle` },
  // Nest finds providers by their classes, whose names have to stay.
  optimization: { minimize: false },
  // Optional packages of Nest that are not installed.
  externals: [/^@nestjs\/(microservices|websockets)(\/|$)/],
  externalsType: 'commonjs',
};
// #endregion config
