// SPDX-License-Identifier: Apache-2.0
package org.ddstore.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.ddstore.fabric.MemoryTable.Piece;
import org.ddstore.memory.Nonce;
import org.ddstore.transport.RemoteSegment;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.ProcessAddress;
import org.junit.jupiter.api.Test;

/** Tables that owners may send: whole ones are taken, others refused before anything is read. */
class RemoteMemoryTest {
  private static final ProcessAddress OWNER = new ProcessAddress("127.0.0.1", 7, 1);
  private static final Piece WORD = piece(8);

  private static Piece piece(long bytes) {
    return new Piece(0, 1, bytes);
  }

  private static List<Piece> pieces(long... bytes) {
    return LongStream.of(bytes).mapToObj(RemoteMemoryTest::piece).toList();
  }

  private static List<Long> longs(long... numbers) {
    return Arrays.stream(numbers).boxed().toList();
  }

  private static RemoteMemory fixed(Piece word, int rowShift, List<Piece> chunks) {
    return new RemoteMemory(
        new RemoteSegment(new Nonce(3, 4), OWNER, 1, 10, 16),
        table(word, rowShift, chunks, List.of(), 0, List.of(), List.of()));
  }

  private static RemoteMemory ragged(
      List<Piece> chunks,
      List<Long> chunkStarts,
      int offsetShift,
      List<Long> offsets,
      List<Piece> offsetPieces) {
    return new RemoteMemory(
        new RemoteSegment(new Nonce(3, 4), OWNER, 1, 3, 0),
        table(WORD, 0, chunks, chunkStarts, offsetShift, offsets, offsetPieces));
  }

  private static MemoryTable table(
      Piece word,
      int rowShift,
      List<Piece> chunks,
      List<Long> chunkStarts,
      int offsetShift,
      List<Long> offsets,
      List<Piece> offsetPieces) {
    return new MemoryTable(
        "tcp/2",
        List.of(),
        word,
        2,
        rowShift,
        chunks,
        chunkStarts,
        offsetShift,
        offsets,
        offsetPieces);
  }

  private static void assertRefused(Runnable taken) {
    assertThatThrownBy(taken::run)
        .isExactlyInstanceOf(DDStoreException.class)
        .hasMessageContaining("127.0.0.1:7")
        .hasMessageContaining("does not fit its");
  }

  @Test
  void rejectsFixedRecordsOutsideTheirChunks() {
    assertThat(fixed(WORD, 2, pieces(64, 64, 32)).hasOffsets()).isFalse();
    assertThat(fixed(WORD, 62, pieces(160)).hasOffsets()).isFalse();
    assertRefused(() -> fixed(WORD, 2, pieces(64, 64, 31)));
    assertRefused(() -> fixed(WORD, 2, pieces(63, 64, 64, 64)));
    assertRefused(() -> fixed(WORD, 2, pieces(64, 64)));
    assertRefused(() -> fixed(WORD, 4, pieces(8, 160))); // all rows are in the first one
    assertRefused(() -> fixed(WORD, 2, pieces(64, -64, 64)));
    assertRefused(() -> fixed(WORD, 63, pieces(160)));
    assertRefused(() -> fixed(WORD, 64, pieces(160)));
    assertRefused(() -> fixed(WORD, -1, pieces(160)));
    assertRefused(() -> fixed(piece(7), 2, pieces(64, 64, 32)));
  }

  @Test
  void rejectsRaggedRecordsOutsideTheirChunks() {
    List<Long> offsets = longs(0, 5, 5, 12);
    RemoteMemory memory = ragged(pieces(5, 7), longs(0, 5, 12), 0, offsets, List.of());
    assertThat(memory.hasOffsets()).isTrue();
    assertThat(memory.streamBytes()).isEqualTo(12);
    assertThat(memory.chunkOf(4)).isZero();
    assertThat(memory.chunkOf(5)).isOne();
    assertThat(ragged(pieces(), longs(0), 0, longs(0, 0, 0, 0), pieces()).streamBytes()).isZero();
    assertRefused(() -> ragged(pieces(5, 7), longs(1, 5, 12), 0, offsets, List.of()));
    assertRefused(() -> ragged(pieces(5, 7), longs(0, 13, 12), 0, offsets, List.of()));
    assertRefused(() -> ragged(pieces(5, 7), longs(0, -1, 12), 0, offsets, List.of()));
    assertRefused(() -> ragged(pieces(5, 7), longs(0, 6, 12), 0, offsets, List.of()));
    assertRefused(() -> ragged(pieces(5, 7), longs(0, 5), 0, offsets, List.of()));
    assertRefused(() -> ragged(pieces(), List.of(), 0, offsets, List.of()));
    assertRefused(() -> ragged(pieces(5, 7), longs(0, 5, 12), 0, longs(0, 5, 12), List.of()));
  }

  @Test
  void rejectsOffsetsOutsideTheirPieces() {
    List<Piece> chunks = pieces(12);
    List<Long> starts = longs(0, 12);
    assertThat(ragged(chunks, starts, 1, List.of(), pieces(16, 16)).hasOffsets()).isFalse();
    assertRefused(() -> ragged(chunks, starts, 1, List.of(), pieces(16, 15)));
    assertRefused(() -> ragged(chunks, starts, 1, List.of(), pieces(32)));
    assertRefused(() -> ragged(chunks, starts, 0, List.of(), pieces(16, 16)));
    assertRefused(() -> ragged(chunks, starts, 63, List.of(), pieces(32)));
    assertRefused(() -> ragged(chunks, starts, -1, List.of(), pieces(32)));
    assertRefused(() -> ragged(chunks, starts, 1, List.of(), List.of()));
  }
}
