//===- ObjectLoader.cpp - relocatable objects in this process -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what a compiler emits for the small, position-independent code model of
// x86-64 or AArch64: sections are copied into one mapping, addresses filled in,
// and the pages then made executable or read-only. The mapping is small, so that
// code reaches all of it; what lies outside is reached through a table of
// addresses and stubs that jump by it. (System V ABI, AMD64 supplement §4.4; ELF
// for the Arm 64-bit Architecture §5.7.)
//
// No object is trusted: every offset is checked before it is used.
//
//===----------------------------------------------------------------------===//
#include "HostCode.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace ft::rt;

#ifndef R_X86_64_GOTPCRELX
#define R_X86_64_GOTPCRELX 41
#define R_X86_64_REX_GOTPCRELX 42
#endif

#if defined(__x86_64__)
static constexpr Elf64_Half hostMachine = EM_X86_64;
#elif defined(__aarch64__)
static constexpr Elf64_Half hostMachine = EM_AARCH64;
#else
static constexpr Elf64_Half hostMachine = EM_NONE;
#endif

static Status corrupt(const std::string &what) {
  return Status::error(Code::corrupt, "code for the CPU: " + what);
}

namespace {
/// What a page may be used for; sections of one kind lie together.
enum Access { execute, readOnly, writable, numAccesses };

struct Section {
  Elf64_Shdr header;
  Access access = readOnly;
  bool isLoaded = false;
  uint64_t offset = 0; // in the mapping
};

struct Object {
  std::string_view bytes;
  std::vector<Section> sections;
  std::vector<Elf64_Sym> symbols;
  std::string_view names;

  std::string nameOf(const Elf64_Sym &symbol) const {
    size_t end = names.find('\0', symbol.st_name);
    return symbol.st_name < names.size() && end != names.npos
               ? std::string(names.substr(symbol.st_name, end - symbol.st_name))
               : std::string();
  }
};

class Loader final : public HostCode {
public:
  ~Loader() override {
    if (base)
      munmap(base, size);
  }
  void *find(const std::string &name) const override {
    auto it = defined.find(name);
    return it == defined.end() ? nullptr : reinterpret_cast<void *>(it->second);
  }
  Status load(std::string_view image);

private:
  Status split(std::string_view archive);
  Status readObject(std::string_view bytes);
  Status readSymbols(Object &object);
  Status layOut();
  Status copySections();
  Status defineSymbols();
  Status relocate(Object &object, const Section &table);
  Status apply(uint32_t type, uint64_t place, uint64_t symbol, int64_t addend, bool isOutside);
  Status applyX86(uint32_t type, uint64_t place, uint64_t symbol, int64_t addend, bool isOutside);
  Status applyArm(uint32_t type, uint64_t place, uint64_t symbol, int64_t addend, bool isOutside);
  Status resolve(const Object &object, const Elf64_Sym &symbol, uint64_t &address, bool &isOutside);
  Status protect();
  /// The place that holds an address, and a stub that jumps there.
  Status tableEntry(uint64_t address, uint64_t &entry);
  Status stubFor(uint64_t address, uint64_t &stub);

  std::vector<Object> objects;
  char *base = nullptr;
  size_t size = 0;
  uint64_t ends[numAccesses] = {}; // of each kind's pages, from the base
  uint64_t maxEntries = 0;         // places in the table, and stubs
  uint64_t tableBegin = 0, stubsBegin = 0;
  std::map<uint64_t, uint64_t> entries, stubs; // by address: the number of its place
  std::map<std::string, uint64_t> defined, outside;
};
} // namespace

template <class T>
static bool readAt(std::string_view bytes, uint64_t offset, T &value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return false;
  memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

static bool hasRange(std::string_view bytes, uint64_t offset, uint64_t length) {
  return offset <= bytes.size() && bytes.size() - offset >= length;
}

static uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The members of an archive in the form that `ar` writes: a header of 60 bytes, of which 10 at 48 are
/// the size in decimal, then the data, at even offsets. Members that begin with "/" are tables.
Status Loader::split(std::string_view archive) {
  constexpr size_t headerSize = 60;
  for (size_t at = 8; at < archive.size();) {
    if (archive.size() - at < headerSize || archive.substr(at + 58, 2) != "`\n")
      return corrupt("a damaged archive");
    uint64_t length = 0;
    for (char c : archive.substr(at + 48, 10)) {
      if (c == ' ')
        break;
      if (c < '0' || c > '9')
        return corrupt("a damaged archive");
      length = length * 10 + uint64_t(c - '0');
    }
    if (archive.size() - at - headerSize < length)
      return corrupt("a damaged archive");
    if (archive[at] != '/' || (archive[at + 1] >= '0' && archive[at + 1] <= '9'))
      FT_RT_TRY(readObject(archive.substr(at + headerSize, length)));
    at += headerSize + length + length % 2;
  }
  return {};
}

Status Loader::readObject(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!readAt(bytes, 0, header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return Status::error(Code::unsupportedFormat, "code for the CPU: neither an object, an archive nor a library");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL ||
      header.e_machine != hostMachine)
    return Status::error(Code::unsupportedFormat, "code for the CPU: an object for another processor");
  Object object;
  object.bytes = bytes;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Section section;
    if (header.e_shentsize != sizeof(Elf64_Shdr) ||
        !readAt(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), section.header))
      return corrupt("a section's header lies outside of the object");
    const Elf64_Shdr &h = section.header;
    if (h.sh_type != SHT_NOBITS && !hasRange(bytes, h.sh_offset, h.sh_size))
      return corrupt("a section lies outside of the object");
    if (h.sh_addralign > 4096 || (h.sh_addralign & (h.sh_addralign - 1)) || h.sh_size > (uint64_t(1) << 31))
      return corrupt("a section's size or alignment");
    if (h.sh_flags & SHF_TLS)
      return corrupt("thread-local data");
    section.isLoaded = (h.sh_flags & SHF_ALLOC) != 0;
    section.access = h.sh_flags & SHF_EXECINSTR ? execute : h.sh_flags & SHF_WRITE ? writable : readOnly;
    object.sections.push_back(section);
  }
  FT_RT_TRY(readSymbols(object));
  objects.push_back(std::move(object));
  return {};
}

Status Loader::readSymbols(Object &object) {
  for (const Section &section : object.sections) {
    const Elf64_Shdr &h = section.header;
    if (h.sh_type != SHT_SYMTAB)
      continue;
    if (h.sh_entsize != sizeof(Elf64_Sym) || h.sh_link >= object.sections.size())
      return corrupt("a symbol table");
    const Elf64_Shdr &names = object.sections[h.sh_link].header;
    if (names.sh_type != SHT_STRTAB)
      return corrupt("a symbol table without names");
    object.names = object.bytes.substr(names.sh_offset, names.sh_size);
    object.symbols.resize(h.sh_size / sizeof(Elf64_Sym));
    if (!object.symbols.empty())
      memcpy(object.symbols.data(), object.bytes.data() + h.sh_offset, object.symbols.size() * sizeof(Elf64_Sym));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

Status Loader::layOut() {
  const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  for (const Object &object : objects)
    for (const Section &section : object.sections)
      if (section.header.sh_type == SHT_RELA)
        maxEntries += section.header.sh_size / sizeof(Elf64_Rela);
  // Each symbol needs one at most, and objects have fewer symbols than relocations.
  uint64_t numSymbols = 0;
  for (const Object &object : objects)
    numSymbols += object.symbols.size();
  maxEntries = std::min(maxEntries, numSymbols);
  uint64_t at = 0;
  for (int access = 0; access < numAccesses; ++access) {
    for (Object &object : objects)
      for (Section &section : object.sections)
        if (section.isLoaded && section.access == access) {
          at = alignUp(at, std::max<uint64_t>(section.header.sh_addralign, 1));
          section.offset = at;
          at += section.header.sh_size;
        }
    if (access == execute) {
      stubsBegin = alignUp(at, 16);
      at = stubsBegin + 16 * maxEntries;
    } else if (access == readOnly) {
      tableBegin = alignUp(at, 8);
      at = tableBegin + 8 * maxEntries;
    }
    at = alignUp(at, page);
    ends[access] = at;
  }
  if (at > (uint64_t(1) << 30))
    return corrupt("more than 1 GiB of code");
  size = std::max<size_t>(at, page);
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::error(Code::outOfMemory, "no memory for code");
  base = static_cast<char *>(memory);
  return {};
}

Status Loader::copySections() {
  for (const Object &object : objects)
    for (const Section &section : object.sections)
      if (section.isLoaded && section.header.sh_type != SHT_NOBITS && section.header.sh_size)
        memcpy(base + section.offset, object.bytes.data() + section.header.sh_offset, section.header.sh_size);
  return {};
}

Status Loader::defineSymbols() {
  for (const Object &object : objects)
    for (const Elf64_Sym &symbol : object.symbols) {
      if (symbol.st_shndx == SHN_COMMON)
        return corrupt("common data");
      if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_shndx >= object.sections.size())
        continue;
      uint64_t address =
          reinterpret_cast<uint64_t>(base) + object.sections[symbol.st_shndx].offset + symbol.st_value;
      if (!defined.emplace(object.nameOf(symbol), address).second && ELF64_ST_BIND(symbol.st_info) != STB_WEAK)
        return corrupt("two definitions of " + object.nameOf(symbol));
    }
  return {};
}

Status Loader::resolve(const Object &object, const Elf64_Sym &symbol, uint64_t &address, bool &isOutside) {
  isOutside = false;
  if (symbol.st_shndx == SHN_ABS) {
    address = symbol.st_value;
    return {};
  }
  if (symbol.st_shndx != SHN_UNDEF) {
    if (symbol.st_shndx >= object.sections.size() || !object.sections[symbol.st_shndx].isLoaded)
      return corrupt("a symbol of a section that is not loaded");
    address = reinterpret_cast<uint64_t>(base) + object.sections[symbol.st_shndx].offset + symbol.st_value;
    return {};
  }
  std::string name = object.nameOf(symbol);
  if (auto it = defined.find(name); it != defined.end()) {
    address = it->second;
    return {};
  }
  isOutside = true;
  auto [it, isNew] = outside.try_emplace(name, 0);
  if (isNew)
    it->second = reinterpret_cast<uint64_t>(findHostFunction(name));
  if (!it->second)
    return Status::error(Code::notFound, "code for the CPU calls \"" + name + "\", which this process lacks");
  address = it->second;
  return {};
}

//===----------------------------------------------------------------------===//
// Relocation
//===----------------------------------------------------------------------===//

Status Loader::tableEntry(uint64_t address, uint64_t &entry) {
  auto [it, isNew] = entries.try_emplace(address, entries.size());
  if (it->second >= maxEntries)
    return corrupt("more addresses than symbols");
  entry = reinterpret_cast<uint64_t>(base) + tableBegin + 8 * it->second;
  if (isNew)
    memcpy(reinterpret_cast<void *>(entry), &address, 8);
  return {};
}

Status Loader::stubFor(uint64_t address, uint64_t &stub) {
  uint64_t entry = 0;
  FT_RT_TRY(tableEntry(address, entry));
  auto [it, isNew] = stubs.try_emplace(address, stubs.size());
  stub = reinterpret_cast<uint64_t>(base) + stubsBegin + 16 * it->second;
  if (!isNew)
    return {};
  auto *code = reinterpret_cast<unsigned char *>(stub);
  if (hostMachine == EM_X86_64) {
    int32_t distance = int32_t(int64_t(entry - (stub + 6)));
    const unsigned char jump[] = {0xff, 0x25}; // jmp *distance(%rip)
    memcpy(code, jump, 2);
    memcpy(code + 2, &distance, 4);
    return {};
  }
  // adrp x16, page of entry; ldr x16, [x16, entry in its page]; br x16
  int64_t pages = int64_t((entry >> 12) - (stub >> 12));
  uint32_t words[] = {0x90000010u | uint32_t(pages & 3) << 29 | uint32_t((pages >> 2) & 0x7ffff) << 5,
                      0xf9400210u | uint32_t((entry & 0xfff) >> 3) << 10, 0xd61f0200u};
  memcpy(code, words, sizeof words);
  return {};
}

template <class T>
static void store(uint64_t place, uint64_t value) {
  T narrow = T(value);
  memcpy(reinterpret_cast<void *>(place), &narrow, sizeof narrow);
}

template <class T>
static Status storeChecked(uint64_t place, int64_t value) {
  if (value != int64_t(T(value)))
    return corrupt("an address out of reach");
  store<T>(place, uint64_t(value));
  return {};
}

Status Loader::applyX86(uint32_t type, uint64_t place, uint64_t symbol, int64_t addend, bool isOutside) {
  switch (type) {
  case R_X86_64_NONE:
    return {};
  case R_X86_64_64:
    store<uint64_t>(place, symbol + uint64_t(addend));
    return {};
  case R_X86_64_PC64:
    store<uint64_t>(place, symbol + uint64_t(addend) - place);
    return {};
  case R_X86_64_32:
    return storeChecked<uint32_t>(place, int64_t(symbol) + addend);
  case R_X86_64_32S:
    return storeChecked<int32_t>(place, int64_t(symbol) + addend);
  case R_X86_64_PLT32:
    if (isOutside)
      FT_RT_TRY(stubFor(symbol, symbol));
    return storeChecked<int32_t>(place, int64_t(symbol - place) + addend);
  case R_X86_64_PC32:
    return storeChecked<int32_t>(place, int64_t(symbol - place) + addend);
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX: {
    uint64_t entry = 0;
    FT_RT_TRY(tableEntry(symbol, entry));
    return storeChecked<int32_t>(place, int64_t(entry - place) + addend);
  }
  default:
    return corrupt("relocation type " + std::to_string(type));
  }
}

Status Loader::applyArm(uint32_t type, uint64_t place, uint64_t symbol, int64_t addend, bool isOutside) {
  uint32_t word = 0;
  memcpy(&word, reinterpret_cast<void *>(place), 4);
  // Twelve bits of an address, in units of what is loaded or stored.
  auto low = [&](uint64_t address, unsigned shift) {
    store<uint32_t>(place, (word & ~(0xfffu << 10)) | uint32_t((address & 0xfff) >> shift) << 10);
    return Status();
  };
  auto page = [&](uint64_t address) -> Status {
    int64_t pages = int64_t((address >> 12) - (place >> 12));
    if (pages < -(1 << 20) || pages >= 1 << 20)
      return corrupt("an address out of reach");
    store<uint32_t>(place, (word & 0x9f00001fu) | uint32_t(pages & 3) << 29 | uint32_t((pages >> 2) & 0x7ffff) << 5);
    return {};
  };
  uint64_t target = symbol + uint64_t(addend), entry = 0;
  switch (type) {
  case R_AARCH64_NONE:
    return {};
  case R_AARCH64_ABS64:
    store<uint64_t>(place, target);
    return {};
  case R_AARCH64_PREL64:
    store<uint64_t>(place, target - place);
    return {};
  case R_AARCH64_PREL32:
    return storeChecked<int32_t>(place, int64_t(target - place));
  case R_AARCH64_ADR_PREL_PG_HI21:
    return page(target);
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return low(target, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return low(target, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return low(target, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC:
    return low(target, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return low(target, 4);
  case R_AARCH64_ADR_GOT_PAGE:
    FT_RT_TRY(tableEntry(target, entry));
    return page(entry);
  case R_AARCH64_LD64_GOT_LO12_NC:
    FT_RT_TRY(tableEntry(target, entry));
    return low(entry, 3);
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26: {
    if (isOutside)
      FT_RT_TRY(stubFor(target, target));
    int64_t distance = int64_t(target - place);
    if (distance < -(1 << 27) || distance >= 1 << 27)
      return corrupt("a call out of reach");
    store<uint32_t>(place, (word & 0xfc000000u) | (uint32_t(distance >> 2) & 0x3ffffffu));
    return {};
  }
  default:
    return corrupt("relocation type " + std::to_string(type));
  }
}

/// How many bytes a relocation may write.
static uint64_t widthOf(uint32_t type) {
  if (hostMachine == EM_X86_64)
    return type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : type == R_X86_64_NONE ? 0 : 4;
  return type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64 ? 8 : type == R_AARCH64_NONE ? 0 : 4;
}

Status Loader::apply(uint32_t type, uint64_t place, uint64_t symbol, int64_t addend, bool isOutside) {
  return hostMachine == EM_X86_64 ? applyX86(type, place, symbol, addend, isOutside)
                                  : applyArm(type, place, symbol, addend, isOutside);
}

Status Loader::relocate(Object &object, const Section &table) {
  const Elf64_Shdr &h = table.header;
  if (h.sh_info >= object.sections.size() || h.sh_entsize != sizeof(Elf64_Rela))
    return corrupt("a table of relocations");
  const Section &section = object.sections[h.sh_info];
  if (!section.isLoaded)
    return {}; // of data for debuggers
  for (uint64_t i = 0; i < h.sh_size / sizeof(Elf64_Rela); ++i) {
    Elf64_Rela rela;
    memcpy(&rela, object.bytes.data() + h.sh_offset + i * sizeof rela, sizeof rela);
    uint32_t type = uint32_t(ELF64_R_TYPE(rela.r_info)), index = uint32_t(ELF64_R_SYM(rela.r_info));
    uint64_t width = widthOf(type);
    if (width == 0)
      continue;
    if (section.header.sh_type == SHT_NOBITS || rela.r_offset > section.header.sh_size ||
        section.header.sh_size - rela.r_offset < width || index >= object.symbols.size())
      return corrupt("a relocation outside of its section");
    uint64_t address = 0;
    bool isOutside = false;
    FT_RT_TRY(resolve(object, object.symbols[index], address, isOutside));
    uint64_t place = reinterpret_cast<uint64_t>(base) + section.offset + rela.r_offset;
    FT_RT_TRY(apply(type, place, address, rela.r_addend, isOutside));
  }
  return {};
}

Status Loader::protect() {
  static constexpr int rights[] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  uint64_t begin = 0;
  for (int access = 0; access < numAccesses; ++access) {
    if (ends[access] > begin && mprotect(base + begin, ends[access] - begin, rights[access]) != 0)
      return Status::error(Code::io, "the system does not let code be executed that this process wrote");
    begin = ends[access];
  }
  __builtin___clear_cache(base, base + ends[execute]);
  return {};
}

Status Loader::load(std::string_view image) {
  if (image.substr(0, 8) == "!<arch>\n")
    FT_RT_TRY(split(image));
  else
    FT_RT_TRY(readObject(image));
  FT_RT_TRY(layOut());
  FT_RT_TRY(copySections());
  FT_RT_TRY(defineSymbols());
  for (Object &object : objects)
    for (const Section &section : object.sections)
      if (section.header.sh_type == SHT_RELA)
        FT_RT_TRY(relocate(object, section));
  FT_RT_TRY(protect());
  // The image is the caller's.
  objects.clear();
  entries.clear();
  stubs.clear();
  return {};
}

Status ft::rt::loadObjects(std::string_view image, std::shared_ptr<HostCode> &out) {
  auto loader = std::make_shared<Loader>();
  FT_RT_TRY(loader->load(image));
  out = std::move(loader);
  return {};
}
