//===- SafetensorsTest.cpp - Reader and writer of safetensors --*- C++ -*-===//
//
// Round trips, and headers that lie.
//
//===----------------------------------------------------------------------===//

#include "fleet/Support/Safetensors.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <limits>

using namespace fleet;

namespace {
/// A file that is removed at the end.
class TemporaryFile {
public:
  TemporaryFile() {
    EXPECT_FALSE(
        llvm::sys::fs::createTemporaryFile("fleet", "safetensors", name));
  }
  ~TemporaryFile() { llvm::sys::fs::remove(name); }

  llvm::StringRef path() const { return name; }
  void write(llvm::StringRef text) const {
    std::error_code code;
    llvm::raw_fd_ostream(name, code) << text;
    EXPECT_FALSE(code);
  }

private:
  llvm::SmallString<64> name;
};
} // namespace

/// A file with this header and so many bytes of data.
static std::string fileOf(llvm::StringRef header, size_t dataBytes) {
  std::string text(8, '\0');
  llvm::support::endian::write64le(text.data(), header.size());
  return text + header.str() + std::string(dataBytes, '\0');
}

/// The message after the path when opening a file with these bytes, "" when it opens.
static std::string openError(llvm::StringRef bytes) {
  TemporaryFile file;
  file.write(bytes);
  auto opened = SafetensorsFile::open(file.path());
  if (opened)
    return "";
  std::string message = llvm::toString(opened.takeError());
  EXPECT_EQ(message.find(file.path().str() + ": "), 0u) << message;
  return message.substr(file.path().size() + 2);
}

TEST(SafetensorsTest, RoundTrip) {
  TemporaryFile file;
  float floats[] = {1.5f, -2.0f, 3.25f};
  int64_t integers[] = {-7, int64_t(1) << 40};
  auto bytes = [](const auto &array) {
    return llvm::ArrayRef(reinterpret_cast<const char *>(array), sizeof(array));
  };
  auto error = writeSafetensors(
      file.path(), {{"w", {StoredType::F32, {3, 1}, bytes(floats)}},
                    {"n\"1", {StoredType::I64, {2}, bytes(integers)}},
                    {"empty", {StoredType::F64, {0, 4}, {}}}});
  ASSERT_FALSE(bool(error));
  auto opened = SafetensorsFile::open(file.path());
  ASSERT_TRUE(bool(opened)) << llvm::toString(opened.takeError());
  auto w = (*opened)->find("w"), n = (*opened)->find("n\"1");
  ASSERT_TRUE(w && n && (*opened)->find("empty"));
  EXPECT_EQ(w->shape, (llvm::SmallVector<int64_t, 4>{3, 1}));
  EXPECT_EQ(w->at(2), 3.25);
  EXPECT_EQ(n->at(0), -7);
  EXPECT_EQ(n->at(1), double(int64_t(1) << 40));
  EXPECT_FALSE((*opened)->find("x"));
  EXPECT_EQ((*opened)->names().size(), 3u);
}

TEST(SafetensorsTest, HalfTypes) {
  uint16_t half[] = {0x3c00, 0xc000, 0x0001, 0x7c00};
  StoredTensor f16{StoredType::F16, {4}, {reinterpret_cast<char *>(half), 8}};
  EXPECT_EQ(f16.at(0), 1);
  EXPECT_EQ(f16.at(1), -2);
  EXPECT_EQ(f16.at(2), 0x1p-24);
  EXPECT_EQ(f16.at(3), std::numeric_limits<double>::infinity());
  uint16_t brain[] = {0x3fc0};
  StoredTensor bf16{
      StoredType::BF16, {1}, {reinterpret_cast<char *>(brain), 2}};
  EXPECT_EQ(bf16.at(0), 1.5);
}

TEST(SafetensorsTest, MissingFile) {
  auto opened = SafetensorsFile::open("/nowhere/w.safetensors");
  ASSERT_FALSE(bool(opened));
  EXPECT_EQ(llvm::toString(opened.takeError()),
            "/nowhere/w.safetensors: No such file or directory");
}

TEST(SafetensorsTest, TruncatedFiles) {
  EXPECT_EQ(openError("abc"), "has 3 bytes and is no safetensors file");
  EXPECT_EQ(openError(std::string(8, '\xff')),
            "is truncated or no safetensors file: the header takes "
            "18446744073709551615 bytes of 0");
  EXPECT_EQ(openError(fileOf("{\"a\"", 0)), "header is not a JSON object");
  EXPECT_EQ(openError(fileOf("[1]", 0)), "header is not a JSON object");
}

TEST(SafetensorsTest, DeepNestingDoesNotExhaustTheStack) {
  EXPECT_EQ(openError(fileOf(std::string(4'000'000, '['), 0)),
            "header is not a JSON object");
}

TEST(SafetensorsTest, EntriesThatLie) {
  auto entry = [](llvm::StringRef text) {
    return openError(fileOf(("{\"a\":" + text + "}").str(), 16));
  };
  EXPECT_EQ(entry(R"({"dtype":"F32","shape":[4],"data_offsets":[0,16]})"), "");
  EXPECT_EQ(entry("3"), "entry of tensor 'a' is not an object");
  EXPECT_EQ(entry(R"({"shape":[4],"data_offsets":[0,16]})"),
            "tensor 'a' has no dtype");
  EXPECT_EQ(entry(R"({"dtype":"F3","shape":[4],"data_offsets":[0,16]})"),
            "tensor 'a' has element type 'F3', which is not supported");
  EXPECT_EQ(entry(R"({"dtype":"F32","shape":[-4],"data_offsets":[0,16]})"),
            "tensor 'a' has no valid shape");
  EXPECT_EQ(
      entry(
          R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16]})"),
      "tensor 'a' has no valid shape");
  EXPECT_EQ(entry(R"({"dtype":"F32","shape":[5],"data_offsets":[0,20]})"),
            "tensor 'a' lies outside the 16 bytes of data");
  EXPECT_EQ(entry(R"({"dtype":"F32","shape":[1],"data_offsets":[8,4]})"),
            "tensor 'a' lies outside the 16 bytes of data");
  EXPECT_EQ(entry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,16]})"),
            "tensor 'a' has 3 elements of type F32 in 16 bytes");
}

TEST(SafetensorsTest, OverlappingTensors) {
  EXPECT_EQ(openError(fileOf(
                R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                16)),
            "tensors 'a' and 'b' lie over each other");
}
