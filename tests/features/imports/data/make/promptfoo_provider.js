// A provider of our own: it tells tokens and cost, and cannot answer for Peru.
module.exports = class {
  id() {
    return 'careless';
  }
  async callApi(prompt) {
    if (prompt.includes('Peru')) {
      return { error: 'the model is out of office' };
    }
    return { output: prompt.toUpperCase(), tokenUsage: { total: 12, prompt: 8, completion: 4 }, cost: 0.00012 };
  }
};
