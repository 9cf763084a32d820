// An OpenAI chat server on loopback over node-llama-cpp, for one caller at a time: node server.mjs MODEL PORT WINDOW THREADS
// Takes a JSON schema (response_format), says 400 on overflow, and tells how many tokens of the prompt were still in
// its cache. No tools, no Anthropic.
import http from "node:http";
import {getLlama, LlamaChat} from "node-llama-cpp";

const [, , modelPath, port, window = "8192", threads = "1"] = process.argv;
const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: +threads});
const model = await llama.loadModel({modelPath});
const context = await model.createContext({contextSize: +window, threads: +threads});
const sequence = context.getSequence();
const chat = new LlamaChat({contextSequence: sequence});
const grammars = new Map();
let turn = Promise.resolve();

const plain = content => typeof content === "string" ? content : (content ?? []).map(part => part.text ?? "").join("");

function entry({role, content}) {
  const text = plain(content);
  if (role === "assistant") return {type: "model", response: [text]};
  return {type: role === "system" ? "system" : "user", text};
}

async function grammarOf(format) {
  if (format?.type !== "json_schema") return undefined;
  const key = JSON.stringify(format.json_schema.schema);
  if (!grammars.has(key)) grammars.set(key, await llama.createGrammarForJsonSchema(format.json_schema.schema));
  return grammars.get(key);
}

async function complete(body, signal, onTextChunk) {
  const history = body.messages.map(entry);
  if (history.at(-1).type !== "model") history.push({type: "model", response: []});
  const before = sequence.tokenMeter.getState();
  const {response, metadata} = await chat.generateResponse(history, {
    maxTokens: body.max_tokens ?? body.max_completion_tokens,
    temperature: body.temperature ?? 0,
    seed: body.seed,
    grammar: await grammarOf(body.response_format),
    signal, stopOnAbortSignal: true, onTextChunk,
  });
  const used = sequence.tokenMeter.diff(before);
  const written = used.usedOutputTokens;
  const prompt = Math.max(used.usedInputTokens, sequence.nextTokenIndex - written);
  return {
    text: response,
    finish: metadata.stopReason === "maxTokens" ? "length" : "stop",
    usage: {
      prompt_tokens: prompt, completion_tokens: written, total_tokens: prompt + written,
      prompt_tokens_details: {cached_tokens: prompt - used.usedInputTokens},
    },
  };
}

async function answer(body, response, signal) {
  const about = {id: "chatcmpl-local", created: 0, model: "local"};
  const need = model.tokenize(body.messages.map(m => plain(m.content)).join("\n")).length;
  if (need > +window - 64) {
    response.writeHead(400, {"content-type": "application/json"});
    const message = `request (${need} tokens) exceeds the context size (${window})`;
    return response.end(JSON.stringify({error: {message, type: "invalid_request_error", code: "context_length_exceeded"}}));
  }
  if (!body.stream) {
    const {text, finish, usage} = await complete(body, signal);
    response.setHeader("content-type", "application/json");
    const choices = [{index: 0, message: {role: "assistant", content: text}, finish_reason: finish}];
    return response.end(JSON.stringify({...about, object: "chat.completion", choices, usage}));
  }
  response.writeHead(200, {"content-type": "text/event-stream"});
  const send = more => response.write(`data: ${JSON.stringify({...about, object: "chat.completion.chunk", ...more})}\n\n`);
  send({choices: [{index: 0, delta: {role: "assistant"}, finish_reason: null}]});
  const piece = content => send({choices: [{index: 0, delta: {content}, finish_reason: null}]});
  const {finish, usage} = await complete(body, signal, piece);
  send({choices: [{index: 0, delta: {}, finish_reason: finish}]});
  if (body.stream_options?.include_usage) send({choices: [], usage});
  response.end("data: [DONE]\n\n");
}

http.createServer((request, response) => {
  if (request.method === "GET") return response.end(JSON.stringify({status: "ok", object: "list", data: [{id: "local"}]}));
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  let text = "";
  request.on("data", piece => text += piece);
  request.on("end", () => {
    turn = turn.then(async () => {
      if (gone.signal.aborted) return;
      try {
        await answer(JSON.parse(text), response, gone.signal);
      } catch (error) {
        if (!response.headersSent) response.writeHead(500);
        response.end(JSON.stringify({error: {message: String(error)}}));
      }
    });
  });
}).listen(+port, "127.0.0.1");
