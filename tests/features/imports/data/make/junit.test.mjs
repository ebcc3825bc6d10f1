// What Node's own runner writes, whose suites stand in one another:
// node --test --test-reporter=junit junit.test.mjs > ../junit-node.xml
import assert from 'node:assert';
import { describe, it } from 'node:test';

describe('capitals', () => {
  it('of France', () => assert.strictEqual('Paris', 'Paris'));
  describe('of islands', () => {
    it('of Malta', () => assert.strictEqual('Mdina', 'Valletta'));
    it.skip('of Nauru', () => {});
  });
});
it('alone', () => {});
