// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedOptions;
import org.ddstore.transport.PeerCalls;
import org.ddstore.transport.PeerGoneException;
import org.ddstore.types.ProcessAddress;

/**
 * Several fabric transports in this JVM, as if they were of several processes: their questions are
 * method calls, their reads go through libfabric and loopback.
 */
final class Processes {
  static final String LOOPBACK = "127.0.0.1";

  private final Map<ProcessAddress, PeerCalls.Service> services = new ConcurrentHashMap<>();
  private final Set<ProcessAddress> ended = ConcurrentHashMap.newKeySet();

  static OneSidedChoice choice() {
    return new FabricProvider().choose(new OneSidedOptions("tcp", "", LOOPBACK, 0));
  }

  FabricTransport start(int number) {
    return new FabricTransport(FabricLibrary.get(), choice(), new Calls(number));
  }

  void end(ProcessAddress process) {
    ended.add(process);
    services.remove(process);
  }

  private final class Calls implements PeerCalls {
    private final ProcessAddress local;

    Calls(int number) {
      this.local = new ProcessAddress(LOOPBACK, number, number);
    }

    @Override
    public ProcessAddress local() {
      return local;
    }

    @Override
    public void serve(Service service) {
      if (service == null) {
        services.remove(local);
      } else {
        services.put(local, service);
      }
    }

    @Override
    public ByteBuffer call(ProcessAddress process, ByteBuffer question, long deadlineNs) {
      Service service = services.get(process);
      if (service == null) {
        throw new PeerGoneException(process, ended.contains(process));
      }
      return service.answer(question.duplicate());
    }

    @Override
    public CompletableFuture<ByteBuffer> send(
        ProcessAddress process, ByteBuffer question, long deadlineNs) {
      try {
        return CompletableFuture.completedFuture(call(process, question, deadlineNs));
      } catch (PeerGoneException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    @Override
    public boolean isAlive(ProcessAddress process) {
      return !ended.contains(process);
    }
  }
}
