// Asks models with the providers' own packages, and prints every answer in full.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { embed, generateObject, generateText, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

const show = (name, value) => console.log(name, JSON.stringify(value));
const content = "hello";
const model = "gpt-4o";

const client = new OpenAI();
show("chat", await client.chat.completions.create({ model, messages: [{ role: "user", content }] }));
const stream = await client.chat.completions.create({ model, messages: [{ role: "user", content }], stream: true });
for await (const part of stream) show("stream", part);
show("responses", await client.responses.create({ model, input: content }));
show("embeddings", await client.embeddings.create({ model: "text-embedding-3-small", input: "a b" }));
try {
  await client.chat.completions.create({ model, messages: [{ role: "user", content }], temperature: 0 });
} catch (error) {
  show("error", [error.status, error.error]);
}

const openai = createOpenAI();
const weather = tool({ inputSchema: jsonSchema({ type: "object", properties: {} }) });
for (const [name, language] of Object.entries({
  chat: openai.chat(model),
  responses: openai(model),
  anthropic: createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` })("claude-sonnet-4-5"),
})) {
  const { text, usage } = await generateText({ model: language, prompt: "the AI SDK" });
  show(`ai ${name}`, { text, usage });
  const parts = [];
  for await (const part of streamText({ model: language, prompt: "the AI SDK streams" }).textStream) parts.push(part);
  show(`ai ${name} stream`, parts);
}
const { toolCalls } = await generateText({ model: openai.chat(model), prompt: "weather?", tools: { weather } });
show("ai tool", toolCalls);
const schema = jsonSchema({ type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false });
show("ai object", (await generateObject({ model: openai.chat(model), schema, prompt: "as JSON" })).object);
show("ai embed", (await embed({ model: openai.textEmbeddingModel("text-embedding-3-small"), value: "a b" })).embedding);
