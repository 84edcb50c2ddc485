// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.ddstore.memory.Segment;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedTransport;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.RemoteReader;
import org.ddstore.types.Cleanup;
import org.ddstore.types.ProcessAddress;

/** A transport that reads rows of other processes by one-sided reads over libfabric. */
final class FabricTransport implements OneSidedTransport {
  private static final int MOST_IDLE = 8;
  private static final Duration PROBE_LIMIT = Duration.ofMinutes(1);

  private final FabricLibrary library;
  private final OneSidedChoice choice;
  private final PeerCalls calls;
  private final FabricServer server;
  private final RemoteMemories memories;
  private final Deque<ReadingEndpoint> idle = new ArrayDeque<>(); // guarded by this
  private boolean closed; // guarded by this

  FabricTransport(FabricLibrary library, OneSidedChoice choice, PeerCalls calls) {
    this.library = library;
    this.choice = choice;
    this.calls = calls;
    this.server = new FabricServer(library, choice);
    this.memories = new RemoteMemories(calls, choice.means());
    calls.serve(server);
  }

  @Override
  public String description() {
    return "fabric, %s on %s, not encrypted"
        .formatted(choice.provider(), choice.networkInterface());
  }

  @Override
  public String detail() {
    return choice.detail();
  }

  @Override
  public ProcessAddress local() {
    return calls.local();
  }

  @Override
  public void export(Segment segment) {
    server.export(segment);
  }

  @Override
  public void withdraw(Segment segment) {
    server.withdraw(segment);
  }

  @Override
  public RemoteReader newReader(Duration timeout) {
    return new FabricReader(this, timeout);
  }

  @Override
  public CompletableFuture<?> probe(ProcessAddress process) {
    return memories.probe(process, PROBE_LIMIT);
  }

  PeerCalls calls() {
    return calls;
  }

  RemoteMemories memories() {
    return memories;
  }

  /** Returns an endpoint for one reader, which gives it back or closes it. */
  ReadingEndpoint takeEnd() {
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException("closed: " + this);
      }
      if (!idle.isEmpty()) {
        return idle.pop();
      }
    }
    return new ReadingEndpoint(library, choice);
  }

  /**
   * @param end endpoint without reads in flight and without landings
   */
  void giveBack(ReadingEndpoint end) {
    synchronized (this) {
      if (!closed && idle.size() < MOST_IDLE) {
        idle.push(end);
        return;
      }
    }
    end.close();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    Stream<Runnable> ends = idle.stream().map(end -> end::close);
    Cleanup.runAll(
        Stream.of(
                Stream.<Runnable>of(() -> calls.serve(null)),
                ends,
                Stream.<Runnable>of(server::close))
            .flatMap(steps -> steps));
    idle.clear();
  }

  @Override
  public String toString() {
    return "FabricTransport[%s at %s]".formatted(choice.means(), calls.local());
  }
}
