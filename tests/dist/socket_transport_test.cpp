// The transport and the processes that the other tests of this folder stand on.
#include "dist/socket_transport.hpp"

#include <gtest/gtest-spi.h>

#include "dist/processes.hpp"

namespace gpumem_test {
namespace {

// One rank of a mesh of two, without the library.
struct End {
  End(Mesh& mesh, int rank) : transport(mesh, rank), table(transport.table()) {}

  void* send(const std::string& text) {
    void* request = nullptr;
    EXPECT_EQ(table.isend(table.user, text.data(), static_cast<int64_t>(text.size()), 1 - table.rank, &request), 0);
    return request;
  }
  void* receive(std::string& text) {
    void* request = nullptr;
    EXPECT_EQ(table.irecv(table.user, text.data(), static_cast<int64_t>(text.size()), 1 - table.rank, &request), 0);
    return request;
  }
  bool done(void* request) {
    int32_t done = -1;
    EXPECT_EQ(table.test(table.user, request, &done), 0);
    return done == 1;
  }
  int32_t test(void* request) {
    int32_t done = 0;
    return table.test(table.user, request, &done);
  }
  void wait(void* request) {
    while (!done(request)) std::this_thread::yield();
  }

  SocketTransport transport;
  gpumem_dist_transport table;
};

TEST(SocketTransport, MessagesComeInOrderWholeAndShort) {
  const std::string first = "first", second(3 << 20, 'x');
  std::string got_first(9, '.'), got_second(4 << 20, '.');
  Mesh mesh(2);
  End a(mesh, 0), b(mesh, 1);
  void* const sends[] = {a.send(first), a.send(second)};
  void* const receives[] = {b.receive(got_first), b.receive(got_second)};
  EXPECT_FALSE(a.done(sends[1])) << "no socket takes as much";
  while (!b.done(receives[1])) a.test(sends[1]);
  b.wait(receives[0]);
  a.wait(sends[0]);
  EXPECT_EQ(got_first.substr(0, 5), first);
  EXPECT_EQ(got_second.substr(0, second.size()), second);
}

TEST(SocketTransport, FaultsComeWhenTheyAreOrdered) {
  const std::string one = "1", two = "2", three = "3";
  std::string got(1, '.');
  Mesh mesh(2);
  End a(mesh, 0), b(mesh, 1);
  a.transport.order({Fault::lose, 2});
  for (const std::string* text : {&one, &two, &three}) a.wait(a.send(*text));
  b.wait(b.receive(got));
  EXPECT_EQ(got, "1");
  EXPECT_FALSE(b.done(b.receive(got)));

  b.transport.order({Fault::delay, 1, 0.05});
  const auto start = std::chrono::steady_clock::now();
  void* const late = b.send(two);
  void* const receive = a.receive(got);
  while (!a.done(receive)) b.test(late);
  EXPECT_EQ(got, "2");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));

  void* request = nullptr;
  a.transport.order({Fault::fail_isend, 1});
  EXPECT_NE(a.table.isend(a.table.user, "x", 1, 1, &request), 0);
  a.transport.order({Fault::fail_irecv, 1});
  EXPECT_NE(a.table.irecv(a.table.user, got.data(), 1, 1, &request), 0);
  a.transport.order({Fault::fail_test, 1});
  EXPECT_NE(a.test(a.receive(got)), 0);
}

TEST(SocketTransport, APeerThatIsGoneIsSeenBehindItsMessages) {
  const std::string last = "last";
  std::string got(4, '.'), none(4, '.');
  Mesh mesh(2);
  End a(mesh, 0), b(mesh, 1);
  a.wait(a.send(last));
  a.table.release(a.table.user);
  b.wait(b.receive(got));
  EXPECT_EQ(got, last);
  void* const receive = b.receive(none);
  EXPECT_NE(b.test(receive), 0);
  b.transport.see_no_ends();
  EXPECT_FALSE(b.done(receive));
}

void misuse() {
  Mesh mesh(2);
  End a(mesh, 0);
  void* request = nullptr;
  EXPECT_NE(a.table.isend(a.table.user, "x", 0, 1, &request), 0);
}

void send_what_changes() {
  std::string text(3 << 20, 'x'), got(3 << 20, '.');
  Mesh mesh(2);
  End a(mesh, 0), b(mesh, 1);
  void* const send = a.send(text);
  text.back() = 'y';
  void* const receive = b.receive(got);
  while (!b.done(receive)) a.test(send);
}

void send_too_much() {
  std::string text = "too much", got(3, '.');
  Mesh mesh(2);
  End a(mesh, 0), b(mesh, 1);
  void* const send = a.send(text);
  void* const receive = b.receive(got);
  a.wait(send);
  EXPECT_NE(b.test(receive), 0);
}

TEST(SocketTransport, MisuseIsSeen) {
  EXPECT_NONFATAL_FAILURE(send_too_much(), "longer than what is received");
  EXPECT_NONFATAL_FAILURE(misuse(), "a message of no such length");
  EXPECT_NONFATAL_FAILURE(send_what_changes(), "memory that is being sent was changed");
}

TEST(SocketTransport, ProcessesReachEachOtherAndSayWhatWentWrong) {
  Mesh mesh(3);
  Processes processes(3, 20, [&](int rank) -> std::string {
    mesh.keep(rank);
    if (rank == 1) raise(SIGSTOP);
    if (rank == 2) raise(SIGKILL);
    std::string text = "0";
    End end(mesh, rank);
    if (rank == 0) end.wait(end.send(text));
    if (rank == 1) end.wait(end.receive(text));
    return rank == 0 ? "" : "rank 1 got " + text;
  });
  EXPECT_TRUE(processes.stopped(1));
  processes.send(1, SIGCONT);
  EXPECT_TRUE(processes.killed(2));
  EXPECT_TRUE(processes.well(0));
  const testing::AssertionResult one = processes.well(1);
  EXPECT_FALSE(one);
  EXPECT_STREQ(one.message(), "process 1: rank 1 got 0");
}

}  // namespace
}  // namespace gpumem_test
