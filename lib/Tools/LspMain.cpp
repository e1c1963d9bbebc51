//===- LspMain.cpp - ft-lsp-server ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's language server between two filters: one on what the editor says, so that
// texts keep to the limits of input, one on what the server answers.
//
//===----------------------------------------------------------------------===//
#include "LspDocuments.h"

#include "ft/Tools/ToolMains.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace mlir::ft::tools;

namespace {
/// Messages of the protocol, one after the other: with their lengths, or, for tests, with lines of
/// dashes between them.
class MessageReader {
public:
  MessageReader(int descriptor, bool isDelimited)
      : file(fdopen(descriptor, "r")), isDelimited(isDelimited) {}
  ~MessageReader() { fclose(file); }
  /// False at the end.
  bool read(std::string &message) { return isDelimited ? readDelimited(message) : readFramed(message); }

private:
  bool readLine(std::string &line);
  bool readFramed(std::string &message);
  bool readDelimited(std::string &message);
  FILE *file;
  bool isDelimited;
};
} // namespace

static constexpr int64_t maxMessage = int64_t(1) << 28;

bool MessageReader::readLine(std::string &line) {
  line.clear();
  int c;
  while ((c = fgetc(file)) != EOF && c != '\n' && line.size() < maxMessage)
    line += static_cast<char>(c);
  return c != EOF || !line.empty();
}

bool MessageReader::readFramed(std::string &message) {
  int64_t length = -1;
  std::string line;
  while (readLine(line)) {
    StringRef header = StringRef(line).trim();
    if (header.consume_front("Content-Length: "))
      if (header.getAsInteger(10, length))
        length = -1;
    if (!header.empty() || length <= 0)
      continue; // what stands outside of messages is no matter
    if (length > maxMessage)
      return false;
    message.resize(length);
    return fread(message.data(), 1, length, file) == static_cast<size_t>(length);
  }
  return false;
}

bool MessageReader::readDelimited(std::string &message) {
  message.clear();
  std::string line;
  while (readLine(line)) {
    if (!StringRef(line).starts_with("//"))
      message += line + "\n";
    else if (StringRef(line).starts_with("// -----") && !message.empty())
      return true;
  }
  return !message.empty();
}

static bool writeAll(int descriptor, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count <= 0)
      return false;
    bytes = bytes.drop_front(count);
  }
  return true;
}

static bool writeMessage(int descriptor, const json::Value &message, bool isPretty) {
  std::string body, whole;
  raw_string_ostream(body) << (isPretty ? formatv("{0:2}", message) : formatv("{0}", message));
  raw_string_ostream(whole) << "Content-Length: " << body.size() << "\r\n\r\n" << body;
  return writeAll(descriptor, whole);
}

namespace {
/// Both filters, while they live. The server has the standard descriptors, and we have the editor.
class LspFilter {
public:
  explicit LspFilter(bool isTest) : isTest(isTest) {}
  bool start();
  /// After the server: what it wrote last goes out.
  void finish();

private:
  void pumpToServer();
  void pumpToEditor();
  bool isTest;
  LspDocuments documents;
  std::mutex output;
  int editorIn = -1, editorOut = -1, serverIn = -1, serverOut = -1;
  std::thread toEditor;
};
} // namespace

bool LspFilter::start() {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0)
    return false;
  // A server that has ended is no reason to die of what is still written to it.
  std::signal(SIGPIPE, SIG_IGN);
  editorIn = dup(STDIN_FILENO);
  editorOut = dup(STDOUT_FILENO);
  serverIn = in[1];
  serverOut = out[0];
  if (editorIn < 0 || editorOut < 0 || dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0)
    return false;
  close(in[0]);
  close(out[1]);
  std::thread(&LspFilter::pumpToServer, this).detach(); // it may wait for the editor for ever
  toEditor = std::thread(&LspFilter::pumpToEditor, this);
  return true;
}

void LspFilter::finish() {
  llvm::outs().flush();
  close(STDOUT_FILENO); // the end of what the other thread reads
  toEditor.join();
}

void LspFilter::pumpToServer() {
  MessageReader reader(editorIn, isTest);
  std::string text;
  while (reader.read(text)) {
    if (!isShallowJson(text))
      continue;
    Expected<json::Value> message = json::parse(text);
    if (!message) {
      consumeError(message.takeError());
      continue;
    }
    std::optional<json::Value> answer;
    std::optional<json::Value> passed = documents.toServer(std::move(*message), answer);
    if (answer) {
      std::lock_guard<std::mutex> lock(output);
      writeMessage(editorOut, *answer, isTest);
    }
    if (passed && !writeMessage(serverIn, *passed, false))
      break;
  }
  close(serverIn);
}

void LspFilter::pumpToEditor() {
  MessageReader reader(serverOut, false);
  std::string text;
  while (reader.read(text)) {
    Expected<json::Value> message = json::parse(text);
    if (!message) {
      consumeError(message.takeError());
      continue;
    }
    json::Value passed = documents.toEditor(std::move(*message));
    std::lock_guard<std::mutex> lock(output);
    writeMessage(editorOut, passed, isTest);
  }
}

int mlir::ft::lspMain(int argc, char **argv, DialectRegistry &registry) {
  setUpTool("ft-lsp-server");
  // Messages between the filters always have lengths: the options for tests are ours.
  bool isTest = false, asks = false;
  SmallVector<char *> arguments;
  for (int i = 0; i < argc; ++i) {
    StringRef argument = argv[i];
    bool ours = argument == "-lit-test" || argument == "--lit-test";
    isTest |= ours;
    asks |= argument.contains("help") || argument.contains("version");
    if (!ours)
      arguments.push_back(argv[i]);
  }
  arguments.push_back(nullptr);
  LspFilter filter(isTest);
  if (!asks && !filter.start()) {
    errs() << "ft-lsp-server: error: no pipes\n";
    return EXIT_FAILURE;
  }
  bool failedToServe = failed(MlirLspServerMain(arguments.size() - 1, arguments.data(), registry));
  if (!asks)
    filter.finish();
  return failedToServe ? EXIT_FAILURE : EXIT_SUCCESS;
}
