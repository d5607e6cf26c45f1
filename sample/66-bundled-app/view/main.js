/* global document */
import { App, applyDocumentTheme } from '@modelcontextprotocol/ext-apps';
import './style.css';

const asked = document.querySelector('#asked');
const problem = document.querySelector('#problem');
const quarters = document.querySelector('#quarters');
const region = document.querySelector('#region');

const element = (tag, text, attributes = {}) =>
  Object.assign(document.createElement(tag), { textContent: text, ...attributes });

function show({ structuredContent: sales }) {
  region.replaceChildren(...sales.regions.map(name => element('option', name)));
  region.value = sales.region;
  const bars = sales.quarters.flatMap(({ name, amount }) => {
    const meter = element('meter', amount, { max: 50, value: amount, ariaLabel: `Sales in ${name}` });
    const cell = element('dd', '');
    cell.append(meter, ` ${amount}`);
    return [element('dt', name), cell];
  });
  quarters.replaceChildren(...bars);
}

// #region host
const app = new App({ name: 'sales-chart', version: '1.0.0' });

app.ontoolinput = ({ arguments: input }) => {
  asked.textContent = `The model asked for ${input.region ?? 'no region'}.`;
};
app.ontoolresult = show;
app.onhostcontextchanged = ({ theme }) => theme && applyDocumentTheme(theme);

region.addEventListener('change', async () => {
  problem.textContent = '';
  try {
    show(await app.callServerTool({ name: 'sales', arguments: { region: region.value } }));
  } catch (error) {
    problem.textContent = error.message;
  }
});

await app.connect();
applyDocumentTheme(app.getHostContext()?.theme ?? 'light');
// #endregion host
