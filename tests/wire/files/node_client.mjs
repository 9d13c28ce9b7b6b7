// What @kubernetes/client-node does in daily use: typed objects, a watch, a command in a pod over a WebSocket.
import { PassThrough } from 'node:stream';

const k8s = await import(process.env.SLIPWAY_NODE_CLIENT);
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);

await core.createNamespace({ body: { metadata: { name: 'js' } } });
const listed = await core.listNamespacedConfigMap({ namespace: 'js' });
for (const name of ['c0', 'c1']) {
  await core.createNamespacedConfigMap({ namespace: 'js', body: { metadata: { name }, data: { name } } });
}
await core.deleteNamespacedConfigMap({ namespace: 'js', name: 'c0' });
const seen = [];
await new Promise((resolve, reject) => {
  new k8s.Watch(config)
    .watch('/api/v1/namespaces/js/configmaps', { resourceVersion: listed.metadata.resourceVersion }, (type, object) => {
      seen.push(`${type} ${object.metadata.name}`);
      if (seen.length === 3) resolve();
    }, reject)
    .catch(reject);
});
console.log(seen.join(', '));
try {
  await core.readNamespacedConfigMap({ namespace: 'js', name: 'c0' });
} catch (missing) {
  console.log(missing.code);
}
await core.createNamespacedPod({
  namespace: 'default',
  body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'busybox', command: ['sleep', '1000'] }] } },
});
while ((await core.readNamespacedPod({ namespace: 'default', name: 'p' })).status?.phase !== 'Running') {
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const output = new PassThrough();
output.on('data', (bytes) => process.stdout.write(bytes));
const status = await new Promise((resolve, reject) => {
  new k8s.Exec(config).exec('default', 'p', 'c', ['echo', 'inside'], output, process.stderr, null, false, resolve).catch(reject);
});
console.log(status.status);
process.exit(0);
