// Catches the Error that a call must throw, so that a test can look at its kind and text.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "hosts/error.h"

namespace numabench {

inline Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error(ErrorKind::kInternal, "");
}

}  // namespace numabench
