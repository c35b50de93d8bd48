// Settings of this host that an earlier `doctor --apply` changed and nobody has put back.
#pragma once

namespace numabench {

/// A line on standard error when there are some.
void tell_of_open_journal();

}  // namespace numabench
