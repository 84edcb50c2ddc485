// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.types.ProcessAddress;

/**
 * An endpoint that reads memory of other processes, with its knowledge of them. Used by one thread
 * at a time, and passed from reader to reader. After a failure it is closed and not reused.
 */
final class ReadingEndpoint implements AutoCloseable {
  /** Limit of requested bytes in flight; 4 to 32 MiB are equally fast over tcp by measurement. */
  private static final long BYTES_IN_FLIGHT = 8 << 20;

  private final FabricLibrary library;
  private final long handle;
  private final Map<List<Byte>, Integer> peers = new HashMap<>();
  private final IdentityHashMap<RemoteMemory, Integer> sources = new IdentityHashMap<>();
  private final List<ProcessAddress> owners = new ArrayList<>();

  ReadingEndpoint(FabricLibrary library, OneSidedChoice choice) {
    this.library = library;
    byte[] failed = FabricLibrary.room();
    this.handle =
        FabricNative.openReader(
            library.handle(),
            FabricLibrary.text(choice.provider()),
            FabricLibrary.text(choice.networkInterface()),
            FabricLibrary.textOrNull(choice.host()),
            BYTES_IN_FLIGHT,
            failed);
    if (handle < 0) {
      throw library.failure(
          "cannot open %s: %s".formatted(choice.detail(), FabricLibrary.text(failed)),
          (int) handle);
    }
  }

  /** Returns the number of a segment's first part; version word, chunks, offsets follow. */
  int sourceOf(RemoteMemory memory) {
    Integer known = sources.get(memory);
    if (known != null) {
      return known;
    }
    MemoryTable table = memory.table();
    int peer = peers.computeIfAbsent(table.address(), this::addPeer);
    int first = addSource(peer, table.word(), memory);
    table.chunks().forEach(piece -> addSource(peer, piece, memory));
    table.offsetPieces().forEach(piece -> addSource(peer, piece, memory));
    sources.put(memory, first);
    return first;
  }

  private int addPeer(List<Byte> address) {
    byte[] bytes = new byte[address.size()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = address.get(i);
    }
    return check("fi_av_insert", FabricNative.addPeer(handle, bytes));
  }

  private int addSource(int peer, MemoryTable.Piece piece, RemoteMemory memory) {
    int number = check("a table of keys", FabricNative.addSource(handle, peer, piece.key()));
    owners.add(memory.process()); // numbers are assigned in order
    return number;
  }

  /** Registers memory to read into; returns the number by which reads refer to it. */
  int addLanding(ByteBuffer memory) {
    return check(
        "fi_mr_reg of %,d bytes to read into, limited by ulimit -l".formatted(memory.capacity()),
        FabricNative.addLanding(handle, FabricNative.addressOf(memory), memory.capacity()));
  }

  void removeLanding(int region) {
    FabricNative.removeLanding(handle, region);
  }

  private int check(String call, int result) {
    if (result < 0) {
      throw library.failure(call, result);
    }
    return result;
  }

  /** Starts reads; the previous ones must have ended. The list must not change until they end. */
  void begin(ReadList reads) {
    check("fi_readmsg", FabricNative.begin(handle, reads.address(), reads.count()));
  }

  /** Continues for some milliseconds; returns true if all reads have completed. */
  boolean run(int timeoutMs) {
    int result = FabricNative.run(handle, timeoutMs);
    if (result < 0) {
      byte[] text = FabricLibrary.room();
      FabricNative.failureText(handle, text);
      String detail = FabricLibrary.text(text);
      int source = FabricNative.trouble(handle);
      throw new ReadFailure(
          source < 0 ? null : owners.get(source),
          "fi_readmsg: %s%s"
              .formatted(library.errorText(result), detail.isEmpty() ? "" : ", " + detail));
    }
    return result > 0;
  }

  long bytesArrived() {
    return FabricNative.bytesArrived(handle);
  }

  /** Closes the endpoint; nothing is written to landings any more when this method returns. */
  @Override
  public void close() {
    FabricNative.closeReader(handle);
  }

  /** Thrown if the owner has ended or withdrawn its memory, or the connection is broken. */
  static final class ReadFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient ProcessAddress process;

    /**
     * @param process the owner; null if unknown
     */
    ReadFailure(ProcessAddress process, String message) {
      super(message, null, false, false);
      this.process = process;
    }

    ProcessAddress process() {
      return process;
    }
  }
}
