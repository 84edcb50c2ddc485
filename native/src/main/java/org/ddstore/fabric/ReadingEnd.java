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
 * An end that reads memory of other processes, and what it knows of them. Used by one thread at a
 * time, kept from reader to reader. After a failure it is closed, not used again.
 */
final class ReadingEnd implements AutoCloseable {
  /** Asked for and not yet come; measured over tcp: 4 to 32 MiB are equally fast. */
  private static final long BYTES_IN_FLIGHT = 8 << 20;

  private final FabricLibrary library;
  private final long handle;
  private final Map<List<Byte>, Integer> peers = new HashMap<>();
  private final IdentityHashMap<RemoteMemory, Integer> sources = new IdentityHashMap<>();
  private final List<ProcessAddress> owners = new ArrayList<>();

  ReadingEnd(FabricLibrary library, OneSidedChoice choice) {
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

  /**
   * The number of the first part of a segment: its version word; then come its chunks, then the
   * pieces of its offsets.
   */
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
    owners.add(memory.process()); // numbers are given in order
    return number;
  }

  /** Registers memory to be read into; the number that reads name it by. */
  int addLanding(ByteBuffer memory) {
    return check(
        "fi_mr_reg of %,d bytes to read into; ulimit -l bounds them".formatted(memory.capacity()),
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

  /** Takes up reads; those before have ended. The list stays as it is until they end. */
  void begin(ReadList reads) {
    check("fi_readmsg", FabricNative.begin(handle, reads.address(), reads.count()));
  }

  /**
   * Goes on for at most so long.
   *
   * @return true if all have come
   * @throws ReadFailure if one has failed: the end is to be closed
   */
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

  /** The bytes of the present reads that have come. */
  long bytesCome() {
    return FabricNative.bytesCome(handle);
  }

  /** When this returns nothing is written to landings any more, whatever still comes. */
  @Override
  public void close() {
    FabricNative.closeReader(handle);
  }

  /** A read failed: the owner has ended, has taken its memory back, or the way to it is broken. */
  static final class ReadFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient ProcessAddress process;

    /**
     * @param process the owner, null if that is not known
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
