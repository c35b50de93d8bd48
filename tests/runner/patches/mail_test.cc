// Mails of the kinds that people send to mailing lists, written by hand, and what is to be in them.
#include "runner/patches/mail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/error.h"
#include "runner/patches/mail_encoding.h"
#include "runner/patches/patch.h"

namespace numabench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDiff =
    "diff --git a/a.c b/a.c\n"
    "--- a/a.c\n"
    "+++ b/a.c\n"
    "@@ -1,3 +1,3 @@\n"
    " int a;\n"
    "-int b;\n"
    "+int c;\n"
    " int d;\n";

std::string failure_of(const std::string& text, const std::string& name = "mail.eml") {
  try {
    split_patches(text, name);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

std::string header(const std::string& subject, const std::string& more = "") {
  return "From: A Hacker <a@example.org>\nDate: Mon, 2 Jun 2025 10:00:00 +0200\nSubject: " +
         subject + "\n" + more + "\n";
}

std::string mixed(const std::string& parts) {
  return header("Re: clock sweep",
                "MIME-Version: 1.0\nContent-Type: multipart/mixed;\n"
                "\tboundary=\"=_b 1\"\n") +
         "This is a multi-part message.\n" + parts + "--=_b 1--\n";
}

std::string part(const std::string& fields, const std::string& body) {
  return "--=_b 1\n" + fields + "\n" + body + "\n";
}

std::string attachment(const std::string& name, const std::string& body) {
  return part("Content-Type: text/x-patch; charset=US-ASCII; name=\"" + name +
                  "\"\nContent-Disposition: attachment; filename=\"" + name + "\"\n",
              body);
}

TEST(Mail, UnfoldsFieldsAndTakesParametersApart) {
  const MailPart mail = parse_mail(
      "Subject: a subject\n  of two lines\nContent-Type: text/plain;\n charset=\"utf-8\";"
      " format=flowed\nContent-Disposition: attachment;\n filename*0=\"v1-0001-\";\n"
      " filename*1*=%C3%A4.patch\n\nbody\n");
  EXPECT_EQ(mail.field("SUBJECT"), "a subject  of two lines");
  EXPECT_EQ(mail.content_type(), "text/plain");
  EXPECT_EQ(mail.type_parameter("charset"), "utf-8");
  EXPECT_EQ(mail.type_parameter("format"), "flowed");
  EXPECT_EQ(mail.file_name(), "v1-0001-ä.patch");
  EXPECT_EQ(mail.body, "body\n");
}

TEST(Mail, AFileNameHasNoFolders) {
  const MailPart mail =
      parse_mail("Content-Disposition: attachment; filename=\"../../etc/x.patch\"\n\n");
  EXPECT_EQ(mail.file_name(), "x.patch");
}

TEST(MailEncoding, DecodesTheExamplesOfTheRfcs) {
  EXPECT_EQ(decode_base64("Zm9v\nYmFy"), "foobar");  // RFC 4648, section 10
  EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
  EXPECT_EQ(decode_quoted_printable("Now's the time =\nfor all.=20\n"),
            "Now's the time for all. \n");
  EXPECT_EQ(decode_quoted_printable("a=3D1 = b=XY  \n"), "a=1 = b=XY\n");
  EXPECT_EQ(decode_words("=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b_c?= d"), "ab c d");  // RFC 2047, 8
  EXPECT_EQ(decode_words("=?UTF-8?B?w6Q=?="), "ä");
  EXPECT_EQ(decode_words("100 =? no word ?="), "100 =? no word ?=");
}

TEST(Mail, TakesAttachmentsByNumberAndNotTheTextAround) {
  const std::string mail =
      mixed(part("Content-Type: text/plain; charset=UTF-8\n",
                 "Hi,\n> diff --git a/old b/old\nplease see the attached.\n") +
            attachment("v3-0002-second.patch", kDiff) + attachment("v3-0001-first.patch", kDiff));
  const std::vector<Patch> patches = split_patches(mail, "/home/u/mail.eml");
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].name, "v3-0001-first.patch");
  EXPECT_EQ(patches[0].number, 1);
  EXPECT_EQ(patches[0].origin, "/home/u/mail.eml, attachment 2");
  EXPECT_EQ(patches[0].form, Patch::Form::kDiff);
  EXPECT_EQ(patches[0].text, kDiff);
  EXPECT_EQ(patches[1].name, "v3-0002-second.patch");
}

TEST(Mail, KeepsTheOrderOfAttachmentsWithoutNumbers) {
  const std::vector<Patch> patches =
      split_patches(mixed(attachment("b.patch", kDiff) + attachment("a.patch", kDiff)), "m");
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].name, "b.patch");
}

TEST(Mail, FindsBase64AttachmentsInNestedParts) {
  // base64 of kDiff with CR LF line ends, made with coreutils' base64.
  constexpr const char* kEncoded =
      "ZGlmZiAtLWdpdCBhL2EuYyBiL2EuYw0KLS0tIGEvYS5jDQorKysgYi9hLmMNCkBAIC0xLDMgKzEs\n"
      "MyBAQA0KIGludCBhOw0KLWludCBiOw0KK2ludCBjOw0KIGludCBkOw0K\n";
  const std::string inner =
      "Content-Type: multipart/mixed; boundary=inner\n\n--inner\nContent-Type: text/plain\n\nHi\n"
      "--inner\nContent-Type: application/octet-stream; name=x.diff\n"
      "Content-Transfer-Encoding: base64\n\n" +
      std::string(kEncoded) + "--inner--\n";
  const std::vector<Patch> patches = split_patches(mixed("--=_b 1\n" + inner), "m");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].name, "x.diff");
  EXPECT_EQ(patches[0].text, kDiff);
  EXPECT_FALSE(patches[0].keep_cr);
}

TEST(Mail, TakesATextAttachmentOnlyWhenItIsADiff) {
  const std::vector<Patch> patches =
      split_patches(mixed(attachment("notes.txt", "see below\n") + attachment("fix.txt", kDiff) +
                          attachment("regression.diffs", kDiff)),
                    "m");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].name, "fix.txt");
}

TEST(Mail, DropsWhatStandsAboveScissors) {
  const std::vector<Patch> patches =
      split_patches(header("[PATCH 2/3] Count") +
                        "I think this is wrong.\n\n---- >8 ----\nCount the sweeps.\n" + kDiff,
                    "mail.eml");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].number, 2);
  EXPECT_EQ(patches[0].form, Patch::Form::kMail);
  EXPECT_THAT(patches[0].text, Not(HasSubstr("I think")));
  EXPECT_THAT(patches[0].text, EndsWith("\n\nCount the sweeps.\n" + std::string(kDiff)));
  EXPECT_THAT(patches[0].text, HasSubstr("Subject: [PATCH 2/3] Count\n"));
}

TEST(Mail, UndoesQuotedPrintable) {
  const std::vector<Patch> patches = split_patches(
      header("Fix",
             "Content-Transfer-Encoding: quoted-printable\n"
             "Content-Type: text/plain; charset=UTF-8\n") +
          "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a =3D 1;=20\n+a =3D =\n2;\n",
      "m");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_THAT(patches[0].text, EndsWith("@@ -1 +1 @@\n-a = 1; \n+a = 2;\n"));
}

std::string flowed(const std::string& body) {
  return header("Fix", "Content-Type: text/plain; charset=UTF-8; format=flowed\n") + body;
}

TEST(Mail, UndoesTheStuffingOfFormatFlowed) {
  const std::vector<Patch> patches = split_patches(
      flowed("Some text that \nflows.\n\ndiff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
             "@@ -1,3 +1,3 @@\n  int a;\n-int b;\n+int c;\n  int d;\n"),
      "m");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_THAT(patches[0].text, EndsWith("Some text that flows.\n\n" + std::string(kDiff)));
}

TEST(Mail, KeepsAnEmptyContextLineThatFormatFlowedWouldJoin) {
  const std::vector<Patch> patches =
      split_patches(flowed("diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
                           "@@ -1,3 +1,3 @@\n  \n-int b;\n+int c;\n  int d;\n"),
                    "m");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_THAT(patches[0].text, EndsWith("@@ -1,3 +1,3 @@\n \n-int b;\n+int c;\n int d;\n"));
}

TEST(Mail, ADiffThatFormatFlowedHasWrappedIsRefused) {
  EXPECT_THAT(failure_of(flowed("diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n"
                                "-int a_long_name;\n+int a_name_that\nwas_too_long;\nx\n")),
              testing::AllOf(HasSubstr("mail.eml"), HasSubstr("damaged"), HasSubstr("attachment")));
  EXPECT_THAT(failure_of(flowed("diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n"
                                "-int a;\n+int a_name_that\nwas_too_long;\n int b;\n")),
              testing::AllOf(HasSubstr("format=flowed"), HasSubstr("line 4"), HasSubstr("line 7")));
}

TEST(Mail, CompressedPatchesAndArchivesAreNamed) {
  EXPECT_THAT(failure_of("\x1f\x8b\x08", "x.patch.gz"),
              testing::AllOf(HasSubstr("x.patch.gz"), HasSubstr("gzip"), HasSubstr("unpack")));
  const std::string archive =
      part("Content-Type: application/gzip; name=series.tgz\nContent-Transfer-Encoding: base64\n",
           "H4sIAAAAAAAAA+3B");
  EXPECT_THAT(failure_of(mixed(archive)), HasSubstr("series.tgz"));
  EXPECT_EQ(split_patches(mixed(archive + attachment("a.patch", kDiff)), "m").size(), 1u);
}

TEST(Mail, WhatHoldsNoPatchIsRefused) {
  EXPECT_THAT(failure_of(header("Hello") + "Nothing here.\n"), HasSubstr("holds no patch"));
  EXPECT_THAT(failure_of(""), HasSubstr("holds no patch"));
  EXPECT_THAT(failure_of("*** a.c\n--- b.c\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n"),
              HasSubstr("context diff"));
  EXPECT_THAT(failure_of(std::string("\xff\xfe"
                                     "d\0i\0",
                                     6)),
              HasSubstr("UTF-16"));
}

TEST(Mbox, SplitsAtFromLinesAndSkipsMessagesWithoutPatches) {
  const std::string from = "From a@example.org Mon Jun  2 10:00:00 2025\n";
  const std::string mbox = from + header("[PATCH 0/2] Cover") + "Two patches.\n\n" + from +
                           header("[PATCH 2/2] Second") + ">From here on.\n" + kDiff + "\n" + from +
                           header("[PATCH 1/2] First") + kDiff + "\n";
  const std::vector<Patch> patches = split_patches(mbox, "thread.mbox");
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].name, "0001-First.patch");
  EXPECT_EQ(patches[0].origin, "thread.mbox, message 3");
  EXPECT_EQ(patches[1].name, "0002-Second.patch");
  EXPECT_THAT(patches[1].text, HasSubstr("\n\nFrom here on.\n"));
}

TEST(Mbox, AnAttachedFormatPatchFileDoesNotSplitTheMessage) {
  const std::string patch =
      "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n" +
      header("[PATCH v3 1/2] First") + kDiff;
  const std::string mbox = "From a@example.org Mon Jun  2 10:00:00 2025\n" +
                           mixed(attachment("v3-0001-First.patch", patch));
  const std::vector<Patch> patches = split_patches(mbox, "thread.mbox");
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].name, "v3-0001-First.patch");
  EXPECT_EQ(patches[0].form, Patch::Form::kMail);
  EXPECT_EQ(patches[0].text, patch);
}

TEST(Mail, AMailSavedWithCrLfReadsAsWithout) {
  const std::string mail = header("Fix") + kDiff;
  std::string saved;
  for (const char c : mail) saved += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(split_patches(saved, "m").at(0).text, split_patches(mail, "m").at(0).text);
}

}  // namespace
}  // namespace numabench
