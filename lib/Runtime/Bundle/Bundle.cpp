//===- Bundle.cpp - .ftb files --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Bundle/Bundle.h"

#include "ft/Runtime/Base/File.h"
#include "ft/Runtime/Base/Sha256.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_set>

using namespace ft::rt;

static constexpr std::string_view magic = "FTBUNDLE";
static constexpr size_t headerSize = 64, checkedHeader = 32, alignment = 64;
static constexpr const char *sectionKinds[] = {"ptx", "cubin", "cpu", "data"};

static size_t alignUp(size_t offset) { return (offset + alignment - 1) / alignment * alignment; }

static void put(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out += char(value >> (8 * i) & 0xff);
}

static uint64_t get(std::string_view bytes, size_t at, int count) {
  uint64_t value = 0;
  for (int i = count; i-- > 0;)
    value = value << 8 | uint8_t(bytes[at + size_t(i)]);
  return value;
}

static std::array<uint8_t, 32> manifestDigest(std::string_view header, std::string_view manifest) {
  Sha256 hash;
  hash.update(header.data(), checkedHeader);
  hash.update(manifest.data(), manifest.size());
  return hash.finish();
}

const Entry *Bundle::find(std::string_view name) const {
  for (const Entry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::string Bundle::serialize() const {
  Json entryList = Json::makeArray(), sectionList = Json::makeArray();
  for (const Entry &entry : entries)
    entryList.push(entry.toJson());
  for (const Section &section : sections)
    sectionList.push(Json::makeObject()
                         .set("kind", sectionKinds[section.kind])
                         .set("target", section.target)
                         .set("bytes", int64_t(section.bytes.size()))
                         .set("sha256", toHex(Sha256::of(section.bytes))));
  std::string manifest = Json::makeObject()
                             .set("producer", producer)
                             .set("sections", std::move(sectionList))
                             .set("entries", std::move(entryList))
                             .dump(/*pretty=*/false);
  size_t total = headerSize + manifest.size();
  for (const Section &section : sections)
    total = alignUp(total) + section.bytes.size();

  std::string out(magic);
  out.reserve(total);
  put(out, bundleFormat, 4);
  put(out, 0, 4);
  put(out, total, 8);
  put(out, manifest.size(), 8);
  for (uint8_t byte : manifestDigest(out, manifest))
    out += char(byte);
  out += manifest;
  for (const Section &section : sections) {
    out.resize(alignUp(out.size()), '\0');
    out += section.bytes;
  }
  return out;
}

Status Bundle::write(const std::string &path) const {
  std::string bytes = serialize();
  return writeFileAtomically(path, {std::as_bytes(std::span(bytes))});
}

namespace {
struct SectionHead {
  Section section;
  size_t size = 0;
  std::string digest;
};
} // namespace

static bool readSectionHead(const Json &json, SectionHead &out) {
  const Json *kind = json.find("kind"), *target = json.find("target");
  const Json *bytes = json.find("bytes"), *digest = json.find("sha256");
  if (json.size() != 4 || !kind || !kind->isString() || !target || !target->isString() || !bytes ||
      !bytes->isInteger() || bytes->asInteger() < 0 || !digest || !digest->isString())
    return false;
  auto *it = std::find(std::begin(sectionKinds), std::end(sectionKinds), kind->asString());
  if (it == std::end(sectionKinds))
    return false;
  out = {{Section::Kind(it - std::begin(sectionKinds)), target->asString(), {}},
         size_t(bytes->asInteger()),
         digest->asString()};
  return true;
}

Status Bundle::parse(std::string_view bytes, const std::string &name, Bundle &out) {
  auto corrupt = [&](const std::string &why) {
    return Status::error(Code::corrupt, name + ": " + why);
  };
  if (bytes.substr(0, magic.size()) != magic)
    return corrupt("not a bundle (no FTBUNDLE at its start)");
  if (bytes.size() < headerSize)
    return corrupt("truncated in its header");
  if (uint64_t format = get(bytes, 8, 4); format != bundleFormat)
    return Status::error(Code::unsupportedFormat,
                         name + ": bundle format " + std::to_string(format) +
                             "; this runtime reads format " + std::to_string(bundleFormat));
  uint64_t total = get(bytes, 16, 8), length = get(bytes, 24, 8);
  if (total != bytes.size())
    return corrupt((bytes.size() < total ? "truncated: " : "trailing bytes: ") +
                   std::to_string(bytes.size()) + " of " + std::to_string(total) + " bytes");
  if (length > bytes.size() - headerSize)
    return corrupt("a manifest larger than the file");
  std::string_view text = bytes.substr(headerSize, length);
  std::array<uint8_t, 32> digest = manifestDigest(bytes, text);
  if (memcmp(digest.data(), bytes.data() + checkedHeader, digest.size()) != 0)
    return corrupt("the manifest's checksum does not match");

  Json manifest;
  FT_RT_TRY(Json::parse(text, manifest).inside(name));
  const Json *producer = manifest.find("producer"), *sections = manifest.find("sections");
  const Json *entries = manifest.find("entries");
  if (manifest.size() != 3 || !producer || !producer->isString() || !sections ||
      !sections->isArray() || !entries || !entries->isArray())
    return corrupt("malformed manifest");
  Bundle bundle;
  bundle.producer = producer->asString();
  size_t at = headerSize + length;
  for (const Json &json : sections->items()) {
    SectionHead head;
    std::string which = "section " + std::to_string(bundle.sections.size());
    if (!readSectionHead(json, head))
      return corrupt(which + ": malformed in the manifest");
    size_t start = alignUp(at);
    if (start > bytes.size() || head.size > bytes.size() - start)
      return corrupt(which + " ends beyond the file");
    if (bytes.substr(at, start - at).find_first_not_of('\0') != bytes.npos)
      return corrupt(which + ": padding is not zero");
    std::string_view content = bytes.substr(start, head.size);
    if (toHex(Sha256::of(content)) != head.digest)
      return corrupt(which + ": the checksum does not match");
    head.section.bytes = content;
    bundle.sections.push_back(std::move(head.section));
    at = start + head.size;
  }
  if (at != bytes.size())
    return corrupt("bytes that belong to no section");
  std::unordered_set<std::string> names;
  for (const Json &json : entries->items()) {
    Entry entry;
    FT_RT_TRY(Entry::fromJson(json, int64_t(bundle.sections.size()), entry).inside(name));
    if (!names.insert(entry.name).second)
      return corrupt("two entries named \"" + entry.name + "\"");
    bundle.entries.push_back(std::move(entry));
  }
  out = std::move(bundle);
  return {};
}

Status Bundle::read(const std::string &path, Bundle &out) {
  std::string bytes;
  FT_RT_TRY(readFile(path, bytes));
  return parse(bytes, path, out);
}
