#include "runner/engines/embedded/client.h"

namespace numabench {
namespace {

PageReader reader_of(const PageSource* pages) {
  if (pages == nullptr) return {};
  return [pages](PageNumber page, std::byte* destination) { pages->read(page, destination); };
}

}  // namespace

Client::Client(const ClientSetup& setup, std::unique_ptr<AccessStream> stream)
    : setup_(setup),
      stream_(std::move(stream)),
      slot_(setup.control.slot(setup.slot)),
      counters_(&slot_.uncounted),
      backend_(setup.pool, *counters_, reader_of(setup.pages), setup.location) {}

void Client::fill(PageNumber page) { backend_.unpin(backend_.read(page).buffer); }

void Client::run() {
  setup_.control.wait_for(Phase::kWarmup);
  phase_ = Phase::kWarmup;
  transaction_start_ = setup_.clock.now();
  while (phase_ != Phase::kStop) {
    draw_batch();
    serve_batch();
    // A scan can outlast the window; point clients have looked after each transaction.
    if (setup_.kind == Role::Kind::kScan) look_at_phase();
  }
}

// Deciding what to ask for is the load generator's work: it is in no transaction's latency.
void Client::draw_batch() {
  const std::uint64_t before = setup_.clock.now();
  stream_->next(batch_);
  if (setup_.pool.policy().mapping == PoolPolicy::Mapping::kDense) {
    for (const Access& access : batch_) backend_.prefetch_mapping(access.page);
    for (const Access& access : batch_) backend_.prefetch_descriptor(access.page);
  }
  transaction_start_ += setup_.clock.now() - before;
}

void Client::serve_batch() {
  for (const Access& access : batch_) {
    serve(access);
    if ((access.flags & Access::kEndsTransaction) == 0) continue;
    end_transaction();
    if (phase_ == Phase::kStop) return;
  }
}

void Client::serve(const Access& access) {
  const ReadResult result = backend_.read(access.page, ring_for(access));
  if ((access.flags & Access::kHot) != 0) {
    counters_->hot_accesses.add(1);
    if (!result.hit) counters_->hot_reads.add(1);
  }
  if (setup_.kind == Role::Kind::kScan) counters_->scan_pages.add(1);
  if (setup_.pages != nullptr) use(access, result.buffer);
  backend_.unpin(result.buffer);
}

BufferRing* Client::ring_for(const Access& access) {
  if ((access.flags & Access::kBulkRead) == 0) return nullptr;
  if (!ring_) ring_.emplace(setup_.pool.shape().buffers);
  return &*ring_;
}

void Client::use(const Access& access, BufferId buffer) {
  const std::byte* bytes = backend_.contents(buffer);
  // Which tuple or key does not matter, only that it is not always the same.
  const std::uint64_t item = counters_->accesses.get();
  if ((access.flags & Access::kScan) != 0) {
    checksum_ += page_format::read_all_tuples(bytes);
  } else if (is_index(access.page)) {
    checksum_ += page_format::search(bytes, item);
  } else {
    checksum_ += page_format::read_tuple(bytes, item);
  }
  asm volatile("" ::"r"(checksum_));
}

// The first relations are the indexes of a table that is queried; there are few.
bool Client::is_index(PageNumber page) const {
  for (const Relation& relation : setup_.dataset.relations()) {
    if (page - relation.first_page < relation.pages) {
      return relation.kind == Relation::Kind::kIndex;
    }
  }
  return false;
}

void Client::end_transaction() {
  const std::uint64_t now = setup_.clock.now();
  counters_->latency_ns.add(setup_.clock.to_ns(now - transaction_start_));
  transaction_start_ = now;
  (setup_.kind == Role::Kind::kScan ? counters_->scans : counters_->transactions).add(1);
  ring_.reset();
  look_at_phase();
}

void Client::look_at_phase() {
  const Phase phase = setup_.control.phase();
  if (phase != phase_) enter(phase);
}

void Client::enter(Phase phase) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  if (phase == Phase::kWindow) slot_.usage_at_begin = usage;
  if (phase_ == Phase::kWindow) slot_.usage_at_end = usage;
  counters_ = phase == Phase::kWindow ? &slot_.window : &slot_.uncounted;
  backend_.count_into(*counters_);
  phase_ = phase;
}

}  // namespace numabench
