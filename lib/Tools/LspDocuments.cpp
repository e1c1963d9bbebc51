//===- LspDocuments.cpp - what an editor has open -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LspDocuments.h"

#include "ft/Support/InputLimits.h"

#include "llvm/Support/ConvertUTF.h"

using namespace llvm;
using namespace mlir::ft;
using namespace mlir::ft::tools;

static constexpr unsigned maxJsonNesting = 200;

bool mlir::ft::tools::isShallowJson(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxJsonNesting)
        return false;
    } else if ((c == ']' || c == '}') && depth) {
      --depth;
    }
  }
  return true;
}

/// Where the line that `at` is in ends: before "\n", "\r\n" or "\r", as editors end lines.
static size_t endOfLine(StringRef text, size_t at) {
  return std::min(text.find_first_of("\r\n", at), text.size());
}

/// Lines that end as the server's do: it takes a lone carriage return for the end of a comment, but not of
/// a line, and looks for errors in the wrong one.
static std::string withLineFeeds(StringRef text) {
  std::string result = text.str();
  for (size_t i = 0; i < result.size(); ++i)
    if (result[i] == '\r' && (i + 1 == result.size() || result[i + 1] != '\n'))
      result[i] = '\n';
  return result;
}

/// The place of a line and a column of UTF-16 units, as editors count them; past an end, the end.
static size_t offsetOf(StringRef text, const json::Object *place) {
  int64_t line = place ? place->getInteger("line").value_or(0) : 0;
  int64_t units = place ? place->getInteger("character").value_or(0) : 0;
  size_t at = 0;
  for (; line > 0; --line) {
    size_t end = endOfLine(text, at);
    if (end == text.size())
      return text.size();
    at = end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
  }
  while (units > 0 && at < endOfLine(text, at)) {
    unsigned bytes = std::max(1u, getNumBytesForUTF8(static_cast<UTF8>(text[at])));
    units -= bytes == 4 ? 2 : 1;
    at = std::min(text.size(), at + bytes);
  }
  return at;
}

void LspDocuments::setText(Document &document, std::string text, std::optional<int64_t> version) {
  document.text = std::move(text);
  Refusal refusal;
  std::string errors;
  raw_string_ostream stream(errors);
  std::string lines = withLineFeeds(document.text);
  if (!checkInput(MemoryBufferRef(lines, "text"), InputLimits(), stream)) {
    // text:LINE:COLUMN: error: MESSAGE
    StringRef rest = StringRef(errors).split('\n').first.split(':').second;
    auto [line, afterLine] = rest.split(':');
    auto [column, message] = afterLine.split(':');
    message.consume_front(" error: ");
    if (!message.contains("the input is empty")) // as every text once is
      refusal.reason = message.str();
    if (!line.getAsInteger(10, refusal.line))
      --refusal.line;
    if (!column.getAsInteger(10, refusal.column))
      --refusal.column;
  }
  document.refusal = refusal;
  document.refusals[version.value_or(0)] = refusal;
}

/// `params.textDocument`, and its name.
static json::Object *documentOf(json::Object &params, std::string &uri) {
  json::Object *document = params.getObject("textDocument");
  if (document)
    uri = document->getString("uri").value_or("").str();
  return document;
}

void LspDocuments::open(json::Object &params) {
  std::string uri;
  json::Object *given = documentOf(params, uri);
  if (!given)
    return;
  Document &document = documents[uri];
  setText(document, given->getString("text").value_or("").str(), given->getInteger("version"));
  bool isRefused = !document.refusal.reason.empty();
  (*given)["text"] = isRefused ? "" : withLineFeeds(document.text);
}

/// Applies changes to our copy; the server gets the whole text.
void LspDocuments::change(json::Object &params) {
  std::string uri;
  json::Array *changes = params.getArray("contentChanges");
  json::Object *given = documentOf(params, uri);
  if (!given || !changes)
    return;
  auto it = documents.find(uri);
  if (it == documents.end())
    return;
  std::string text = it->second.text;
  for (json::Value &value : *changes) {
    json::Object *change = value.getAsObject();
    if (!change)
      continue;
    StringRef added = change->getString("text").value_or("");
    json::Object *range = change->getObject("range");
    if (!range) {
      text = added.str();
      continue;
    }
    size_t begin = offsetOf(text, range->getObject("start")), end = offsetOf(text, range->getObject("end"));
    if (begin > end)
      std::swap(begin, end);
    text.replace(begin, end - begin, added);
  }
  setText(it->second, std::move(text), given->getInteger("version"));
  bool isRefused = !it->second.refusal.reason.empty();
  *changes = json::Array{json::Object{{"text", isRefused ? "" : withLineFeeds(it->second.text)}}};
}

static std::string print(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  return text;
}

std::optional<json::Value> LspDocuments::toServer(json::Value message,
                                                  std::optional<json::Value> &answer) {
  std::lock_guard<std::mutex> lock(mutex);
  json::Object *object = message.getAsObject();
  if (!object)
    return std::nullopt;
  StringRef method = object->getString("method").value_or("");
  json::Object *params = object->getObject("params");
  if (!params)
    return message;
  json::Value *id = object->get("id");
  std::string uri;
  if (!documentOf(*params, uri))
    return message;
  if (method == "textDocument/didOpen") {
    open(*params);
    return message;
  }
  // Of what was never opened the server knows nothing, and of what was refused nothing that is true.
  auto it = documents.find(uri);
  bool isRefused = it != documents.end() && !it->second.refusal.reason.empty();
  if (it == documents.end() || (id && isRefused)) {
    if (id)
      answer = json::Object{{"jsonrpc", "2.0"}, {"id", *id}, {"result", nullptr}};
    return std::nullopt;
  }
  if (method == "textDocument/didChange")
    change(*params);
  if (id && method == "textDocument/hover")
    hovers[print(*id)] = true;
  return message;
}

/// Adds to what the server says of an operation what its definition says.
static void addDocumentation(json::Object &result) {
  json::Object *contents = result.getObject("contents");
  if (!contents)
    return;
  StringRef text = contents->getString("value").value_or("");
  StringRef name = text.split('"').second.split('"').first;
  StringRef doc = findOperationDoc(name);
  if (!doc.empty())
    (*contents)["value"] = (text + "\n***\n" + doc).str();
}

json::Value LspDocuments::toEditor(json::Value message) {
  std::lock_guard<std::mutex> lock(mutex);
  json::Object *object = message.getAsObject();
  if (!object)
    return message;
  if (object->getString("method") == StringRef("textDocument/publishDiagnostics")) {
    json::Object *params = object->getObject("params");
    auto it = documents.find(params ? params->getString("uri").value_or("").str() : "");
    if (it == documents.end())
      return message;
    std::map<int64_t, Refusal> &refusals = it->second.refusals;
    auto found = refusals.find(params->getInteger("version").value_or(0));
    Refusal refusal = found == refusals.end() ? it->second.refusal : found->second;
    if (found != refusals.end())
      refusals.erase(refusals.begin(), std::next(found));
    if (refusal.reason.empty())
      return message;
    json::Object place{{"line", refusal.line}, {"character", refusal.column}};
    (*params)["diagnostics"] = json::Array{
        json::Object{{"range", json::Object{{"start", json::Object(place)}, {"end", json::Object(place)}}},
                     {"severity", 1},
                     {"source", "mlir"},
                     {"message", refusal.reason}}};
    return message;
  }
  json::Value *id = object->get("id");
  json::Object *result = object->getObject("result");
  if (id && hovers.erase(print(*id)) && result)
    addDocumentation(*result);
  return message;
}
