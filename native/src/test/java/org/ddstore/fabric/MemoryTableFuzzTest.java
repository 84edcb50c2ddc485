// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;
import org.ddstore.contract.Untrusted;
import org.ddstore.fabric.MemoryTable.Piece;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables of the memory of another process. */
class MemoryTableFuzzTest {
  private static final int ROWS = 3;
  private static final int RECORD_BYTES = 8;

  static Stream<byte[]> tables() {
    Piece word = new Piece(1, 2, Long.BYTES);
    List<Piece> chunks = List.of(new Piece(3, 4, 16), new Piece(5, 6, RECORD_BYTES));
    List<Byte> address = List.of((byte) 1, (byte) 2);
    return Stream.of(
            new MemoryTable("tcp", address, word, 8, 1, chunks, List.of(), 0, List.of(), List.of()),
            new MemoryTable(
                "tcp",
                address,
                word,
                8,
                0,
                chunks,
                List.of(0L, 16L, 24L),
                0,
                List.of(0L, 4L, 16L, 24L),
                List.of()))
        .map(MemoryTable::encode)
        .map(MemoryTableFuzzTest::afterStatus);
  }

  private static byte[] afterStatus(ByteBuffer table) {
    byte[] bytes = new byte[table.remaining() - 1];
    table.get(1, bytes);
    return bytes;
  }

  /** A table, as that of a segment of fixed and of ragged records. */
  @MethodSource("tables")
  @FuzzTest
  void table(byte[] bytes) {
    for (int recordBytes : new int[] {RECORD_BYTES, 0}) {
      RemoteSegment segment =
          new RemoteSegment(new Nonce(1, 2), new ProcessAddress("h", 1, 1), 0, ROWS, recordBytes);
      Untrusted.parse(
          () -> new RemoteMemory(segment, MemoryTable.decode(ByteBuffer.wrap(bytes))),
          DDStoreException.class,
          BufferUnderflowException.class);
    }
  }
}
