// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llvm::getTypeName for g++, with the names that clang gives. MLIR knows the traits of operations across libraries by these
// names (mlir/Support/TypeID.h). Distributions build MLIR with clang, where a trait is "mlir::OpTrait::SymbolTable<Empty>";
// g++ writes "mlir::OpTrait::SymbolTable<mlir::TypeID::get<mlir::OpTrait::SymbolTable>()::Empty>", and so each trait of the
// library's operations would be missed in what g++ compiled: builtin.module would have no symbol table.

#if !defined(__GNUC__) || defined(__clang__)
#include_next "llvm/Support/TypeName.h"
#elif !defined(LLVM_SUPPORT_TYPENAME_H)
#define LLVM_SUPPORT_TYPENAME_H

#include "llvm/ADT/StringRef.h"

#include <array>
#include <string_view>

namespace llvm {
namespace type_name {

/// Text of at most the length of the longest name, filled while compiling.
template <std::size_t Capacity>
struct Text {
  std::array<char, Capacity + 1> characters{};
  std::size_t size = 0;

  constexpr void add(std::string_view text) {
    for (char c : text)
      characters[size++] = c;
  }
};

/// The name as clang writes it, from the name as g++ does.
template <std::size_t Capacity>
constexpr Text<Capacity> asClang(std::string_view name) {
  constexpr std::string_view local = "<mlir::TypeID::get<", empty = "()::Empty>";
  constexpr std::string_view gcc[] = {"long int", "short int"}, clang[] = {"long", "short"};
  Text<Capacity> result;
  std::string_view end;
  if (std::size_t at = name.find(local); at != name.npos && name.size() >= empty.size() &&
                                         name.substr(name.size() - empty.size()) == empty) {
    name = name.substr(0, at);
    end = "<Empty>";
  }
  while (!name.empty()) {
    bool isSpelled = false;
    for (int i = 0; i < 2 && !isSpelled; ++i) {
      if (name.substr(0, gcc[i].size()) != gcc[i])
        continue;
      result.add(clang[i]);
      name.remove_prefix(gcc[i].size());
      isSpelled = true;
    }
    if (!isSpelled) {
      result.add(name.substr(0, 1));
      name.remove_prefix(1);
    }
  }
  result.add(end);
  return result;
}

template <typename DesiredTypeName>
constexpr std::string_view asGcc() {
  constexpr std::string_view name = __PRETTY_FUNCTION__, key = "DesiredTypeName = ";
  constexpr std::size_t begin = name.find(key) + key.size();
  // After a semicolon are the meanings of aliases.
  constexpr std::size_t end = name.find(';', begin) == name.npos ? name.size() - 1 : name.find(';', begin);
  return name.substr(begin, end - begin);
}

template <typename DesiredTypeName>
struct Stored {
  static constexpr auto text = asClang<asGcc<DesiredTypeName>().size()>(asGcc<DesiredTypeName>());
};

} // namespace type_name

template <typename DesiredTypeName>
inline constexpr StringRef getTypeName() {
  constexpr auto &text = type_name::Stored<DesiredTypeName>::text;
  return StringRef(text.characters.data(), text.size);
}

} // namespace llvm

#endif
