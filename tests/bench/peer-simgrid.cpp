/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The benchmark's collectives in SimGrid S4U: hosts on a star, 25 GB/s each way, 5 us
 * a message, 100 MB.  peer-simgrid ring|all-to-all RANKS prints a row of the same CSV. */
#include <simgrid/s4u.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace sg4 = simgrid::s4u;

static const double size = 1e8, bandwidth = 25e9, latency = 5e-6;

/* SimGrid sends whole bytes: what a chunk's last one lacks, the link lacks too. */
static uint64_t
chunk_of (int ranks)
{
  return static_cast<uint64_t> (size / ranks);
}

static std::vector<sg4::Host *>
star (int ranks)
{
  const double whole = bandwidth * static_cast<double> (chunk_of (ranks)) / (size / ranks);
  auto *zone = sg4::create_star_zone ("star");
  std::vector<sg4::Host *> hosts;

  for (int i = 0; i < ranks; i++)
    {
      const auto name = std::to_string (i);
      auto *host = zone->create_host (name, 1e9);
      /* half of the latency out, half in */
      auto *link = zone->create_split_duplex_link ("nic" + name, whole)->set_latency (latency / 2);

      link->seal ();
      host->seal ();
      zone->add_route (host->get_netpoint (), nullptr, nullptr, nullptr,
                       { sg4::LinkInRoute (link, sg4::LinkInRoute::Direction::UP) }, true);
      hosts.push_back (host);
    }
  zone->seal ();
  return hosts;
}

/* 2(n-1) steps: a chunk to the right, one from the left, both done before the next. */
static void
ring_rank (int rank, int ranks)
{
  auto *right = sg4::Mailbox::by_name (std::to_string ((rank + 1) % ranks));
  auto *own = sg4::Mailbox::by_name (std::to_string (rank));
  static int chunk;

  for (int step = 0; step < 2 * (ranks - 1); step++)
    {
      int *got = nullptr;
      auto in = own->get_async<int> (&got);
      auto out = right->put_async (&chunk, chunk_of (ranks));

      out->wait ();
      in->wait ();
    }
}

/* All at once, without mailboxes: the least that SimGrid can be asked. */
static void
all_to_all_rank (int rank, const std::vector<sg4::Host *> *hosts)
{
  const int ranks = static_cast<int> (hosts->size ());
  std::vector<sg4::CommPtr> sent;

  for (int k = 1; k < ranks; k++)
    sent.push_back (sg4::Comm::sendto_async ((*hosts)[rank], (*hosts)[(rank + k) % ranks], chunk_of (ranks)));
  for (auto &comm : sent)
    comm->wait ();
}

static double
cpu (void)
{
  timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double> (now.tv_sec) + 1e-9 * static_cast<double> (now.tv_nsec);
}

int
main (int argc, char **argv)
{
  sg4::Engine engine (&argc, argv);

  if (argc != 3)
    {
      std::fprintf (stderr, "usage: peer-simgrid ring|all-to-all RANKS\n");
      return 2;
    }

  const std::string work = argv[1];
  const int ranks = std::atoi (argv[2]);

  /* A fluid link without a model of TCP: what is asked of the link is what it gives. */
  for (const char *option : { "network/model:CM02", "network/TCP-gamma:0", "network/bandwidth-factor:1",
                              "network/latency-factor:1", "network/weight-S:0", "network/crosstraffic:0" })
    sg4::Engine::set_config (option);

  const auto hosts = star (ranks);
  /* The platform is not counted. */
  const double start = cpu ();

  for (int rank = 0; rank < ranks; rank++)
    if (work == "ring")
      sg4::Actor::create ("rank", hosts[rank], ring_rank, rank, ranks);
    else
      sg4::Actor::create ("rank", hosts[rank], all_to_all_rank, rank, &hosts);
  engine.run ();

  const double seconds = cpu () - start;
  rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  std::printf ("%s,%d,simgrid,%.6f,%ld,%.9g\n", work.c_str (), ranks, seconds, 1024 * usage.ru_maxrss,
               sg4::Engine::get_clock ());
  return 0;
}
