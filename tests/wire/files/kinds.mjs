// Creates, reads, changes, replaces, lists and deletes the objects of kinds.yaml with the typed classes of
// @kubernetes/client-node. Tells what failed and what it did.
import { readFileSync } from 'node:fs';

const k8s = await import(process.env.SLIPWAY_NODE_CLIENT);
const config = new k8s.KubeConfig();
config.loadFromDefault();

const capital = (word) => word[0].toUpperCase() + word.slice(1);

// One verb of the class of an object's group and version, as createNamespacedConfigMap of CoreV1Api.
function verbOf(body) {
  const [version, group = 'core'] = body.apiVersion.split('/').reverse();
  const name = group.replace(/\.k8s\.io$/, '').split('.').map(capital).join('');
  const api = config.makeApiClient(k8s[`${name}${capital(version)}Api`]);
  const namespace = body.metadata.namespace;
  return (verb, more = {}) =>
    api[`${verb}${namespace ? 'Namespaced' : ''}${body.kind}`](namespace ? { namespace, ...more } : more);
}

async function replaced(verb, name) {
  for (let attempt = 0; ; ++attempt) {
    const body = await verb('read', { name });
    body.metadata.labels = { ...body.metadata.labels, changed: 'yes' };
    try {
      return [body.metadata.generation, await verb('replace', { name, body })];
    } catch (refused) {
      if (refused.code !== 409 || attempt === 19) throw refused; // a controller wrote between: read again, as programs do
    }
  }
}

// What is wrong with an object on its way, '' when nothing is.
async function check(body) {
  const verb = verbOf(body);
  const name = body.metadata.name;
  await verb('create', { body });
  const [generation, after] = await replaced(verb, name);
  if (after.metadata.labels?.changed !== 'yes') return 'the answer of the replacement lacks the label';
  if (after.metadata.generation !== generation) return `a label made generation ${generation} into ${after.metadata.generation}`;
  const listed = (await verb('list')).items.find((item) => item.metadata.name === name);
  if (listed?.metadata.labels?.changed !== 'yes') return 'the list lacks the label';
  await verb('delete', { name });
  try {
    if (!(await verb('read', { name })).metadata.deletionTimestamp) return 'it is still there';
  } catch (gone) {
    if (gone.code !== 404) throw gone;
  }
  return '';
}

await config.makeApiClient(k8s.CoreV1Api).createNamespace({ body: { metadata: { name: 'kinds' } } });
const bodies = k8s.loadAllYaml(readFileSync('kinds.yaml', 'utf8'));
let good = 0;
for (const body of bodies) {
  let problem;
  try {
    problem = await check(body);
  } catch (error) { // one kind that fails does not hide the others
    problem = `${error.code ?? error.name}: ${error.body ?? error.message}`.trim().slice(0, 400);
  }
  if (problem) console.log(`${body.apiVersion} ${body.kind}: ${problem}`);
  good += problem ? 0 : 1;
}
console.log(`${good} of ${bodies.length} kinds`);
process.exit(0);
