// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;

/**
 * The members of a zip archive, in the order of its directory (section 4.3 of PKWARE's APPNOTE):
 *
 * <pre>
 * | local header | name | extra | data |  ..  | directory | zip64 end, locator | end | comment |
 *         one for each member                   46 bytes        if present
 *                                              per member
 * </pre>
 *
 * Sizes are those of the directory; nothing is read or allocated for a size that the file does not
 * contain. Bytes before the first member are allowed, as in Python.
 */
final class ZipDirectory {
  private static final int LOCAL_SIGNATURE = 0x04034b50;
  private static final int LOCAL_BYTES = 30;
  private static final int MEMBER_SIGNATURE = 0x02014b50;
  private static final int MEMBER_BYTES = 46;
  private static final int END_SIGNATURE = 0x06054b50;
  private static final int END_BYTES = 22;
  private static final int MAX_COMMENT = 0xFFFF;
  private static final int END64_SIGNATURE = 0x06064b50;
  private static final int END64_BYTES = 56;
  private static final int LOCATOR_SIGNATURE = 0x07064b50;
  private static final int LOCATOR_BYTES = 20;
  private static final int ZIP64_EXTRA = 1;

  /** Value of a field of 32 bits whose value is in the zip64 extra field. */
  private static final long IN_ZIP64 = 0xFFFF_FFFFL;

  /** Number of the fields that a record of a store can have. */
  private static final int MAX_MEMBERS = 65_535;

  private static final int SHOWN_MEMBERS = 10;

  private final InputFile file;
  private final InputFile.Content content;
  private final List<Member> members = new ArrayList<>();
  private final List<String> others = new ArrayList<>();

  /**
   * A member in the directory.
   *
   * @param header position of the local header in the file
   * @param limit position at which the next member or the directory begins
   */
  record Member(
      String name,
      int flags,
      int method,
      long crc,
      long storedBytes,
      long bytes,
      long header,
      long limit) {
    Member endingBefore(long next) {
      return new Member(name, flags, method, crc, storedBytes, bytes, header, next);
    }
  }

  private ZipDirectory(InputFile file, InputFile.Content content) {
    this.file = file;
    this.content = content;
  }

  /**
   * Reads the directory of an archive.
   *
   * @param isWanted whether members of a name are kept
   * @throws FormatException if the file is no archive, or members that are kept are not inside it,
   *     overlap or have the same name
   */
  static ZipDirectory read(InputFile file, InputFile.Content content, Predicate<String> isWanted)
      throws IOException {
    ZipDirectory directory = new ZipDirectory(file, content);
    directory.readMembers(isWanted);
    directory.requireDisjoint();
    return directory;
  }

  /** Returns the members that are kept, in the order of the directory. */
  List<Member> members() {
    return members;
  }

  /** Returns the names of the first members that are not kept. */
  List<String> others() {
    return others;
  }

  /** Returns the position of the first byte of a member, after a check of its local header. */
  long dataOffset(Member member) throws IOException {
    ByteBuffer local = bytes(member.header(), LOCAL_BYTES);
    if (local.getInt(0) != LOCAL_SIGNATURE) {
      throw damaged(member.name(), "there is no member at byte %,d".formatted(member.header()));
    }
    int nameBytes = unsigned(local, 26);
    long offset = member.header() + LOCAL_BYTES + nameBytes + unsigned(local, 28);
    if (offset + member.storedBytes() > member.limit()) {
      throw damaged(member.name(), "it overlaps what follows it");
    }
    ByteBuffer name = bytes(member.header() + LOCAL_BYTES, nameBytes);
    if (!text(name, nameBytes).equals(member.name())) {
      throw damaged(
          member.name(),
          "the name at byte %,d is %s"
              .formatted(member.header(), Excerpt.of(text(name.rewind(), nameBytes))));
    }
    return offset;
  }

  private void readMembers(Predicate<String> isWanted) throws IOException {
    int tailBytes = (int) Math.min(file.length(), END_BYTES + MAX_COMMENT);
    ByteBuffer tail = bytes(file.length() - tailBytes, tailBytes);
    int at = tailBytes - END_BYTES;
    while (at >= 0
        && (tail.getInt(at) != END_SIGNATURE
            || at + END_BYTES + unsigned(tail, at + 20) > tailBytes)) {
      at--;
    }
    if (at < 0) {
      throw noArchive("it has no directory of members");
    }
    long end = file.length() - tailBytes + at;
    long size = Integer.toUnsignedLong(tail.getInt(at + 12));
    long offset = Integer.toUnsignedLong(tail.getInt(at + 16));
    if (end >= LOCATOR_BYTES + END64_BYTES) {
      ByteBuffer end64 = bytes(end - LOCATOR_BYTES - END64_BYTES, LOCATOR_BYTES + END64_BYTES);
      if (end64.getInt(END64_BYTES) == LOCATOR_SIGNATURE && end64.getInt(0) == END64_SIGNATURE) {
        end -= LOCATOR_BYTES + END64_BYTES;
        size = end64.getLong(40);
        offset = end64.getLong(48);
      }
    }
    if (size < 0 || offset < 0 || size > end || offset > end - size) {
      throw noArchive(
          "its directory, %,d bytes at byte %,d, is not inside the file".formatted(size, offset));
    }
    ReadBudget.requireClaim(file.path(), "directory of the archive", size);
    long start = end - size;
    ByteBuffer entries = bytes(start, (int) size);
    while (entries.hasRemaining()) {
      readMember(entries, start, start - offset, isWanted);
    }
  }

  /**
   * Reads the entry at the position of a buffer and moves the position behind it.
   *
   * @param start position of the directory in the file
   * @param shift number of bytes before those from which the archive counts
   */
  private void readMember(ByteBuffer entries, long start, long shift, Predicate<String> isWanted) {
    int at = entries.position();
    if (entries.remaining() < MEMBER_BYTES || entries.getInt(at) != MEMBER_SIGNATURE) {
      throw noArchive("its directory is damaged at byte %,d".formatted(start + at));
    }
    int nameBytes = unsigned(entries, at + 28);
    int extraBytes = unsigned(entries, at + 30);
    int next = at + MEMBER_BYTES + nameBytes + extraBytes + unsigned(entries, at + 32);
    if (next > entries.limit()) {
      throw noArchive("its directory is damaged at byte %,d".formatted(start + at));
    }
    String name = text(entries.position(at + MEMBER_BYTES), nameBytes);
    long[] sizes = {
      Integer.toUnsignedLong(entries.getInt(at + 24)),
      Integer.toUnsignedLong(entries.getInt(at + 20)),
      Integer.toUnsignedLong(entries.getInt(at + 42))
    };
    readZip64(entries.slice(entries.position(), extraBytes), sizes);
    entries.position(next);
    if (!isWanted.test(name)) {
      if (others.size() < SHOWN_MEMBERS) {
        others.add(Excerpt.of(name));
      }
      return;
    }
    if (members.size() == MAX_MEMBERS) {
      throw new FormatException(
          file.path(),
          "the archive has more than %,d arrays: name some by option \"columns\""
              .formatted(MAX_MEMBERS));
    }
    long room = start - shift - sizes[2] - LOCAL_BYTES - nameBytes;
    if (sizes[0] < 0 || sizes[1] < 0 || sizes[2] < 0 || room < 0 || sizes[1] > room) {
      throw FormatException.of(
          file.path(), member(name), "truncated: the member is not inside the file");
    }
    members.add(
        new Member(
            name,
            unsigned(entries, at + 8),
            unsigned(entries, at + 10),
            Integer.toUnsignedLong(entries.getInt(at + 16)),
            sizes[1],
            sizes[0],
            shift + sizes[2],
            start));
  }

  /** Replaces the sizes that are in the zip64 extra field, which has only those, in this order. */
  private static void readZip64(ByteBuffer extra, long... sizes) {
    extra.order(ByteOrder.LITTLE_ENDIAN);
    while (extra.remaining() >= 4) {
      int id = extra.getShort() & 0xFFFF;
      int length = extra.getShort() & 0xFFFF;
      if (length > extra.remaining()) {
        return;
      }
      ByteBuffer field = extra.slice(extra.position(), length).order(ByteOrder.LITTLE_ENDIAN);
      extra.position(extra.position() + length);
      for (int i = 0; id == ZIP64_EXTRA && i < sizes.length; i++) {
        if (sizes[i] == IN_ZIP64 && field.remaining() >= Long.BYTES) {
          sizes[i] = field.getLong();
        }
      }
    }
  }

  /** Checks that no two members have the same name or the same bytes, and sets their limits. */
  private void requireDisjoint() {
    Set<String> names = new HashSet<>();
    for (Member member : members) {
      if (!names.add(member.name())) {
        throw damaged(member.name(), "the archive has two members of this name");
      }
    }
    List<Integer> order =
        IntStream.range(0, members.size())
            .boxed()
            .sorted(Comparator.comparingLong(i -> members.get(i).header()))
            .toList();
    for (int i = 1; i < order.size(); i++) {
      Member member = members.get(order.get(i - 1));
      Member next = members.get(order.get(i));
      if (member.header() + LOCAL_BYTES + member.storedBytes() > next.header()) {
        throw damaged(member.name(), "it overlaps " + member(next.name()));
      }
      members.set(order.get(i - 1), member.endingBefore(next.header()));
    }
  }

  private ByteBuffer bytes(long position, int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
    content.read(position, bytes);
    return bytes.flip();
  }

  private static int unsigned(ByteBuffer bytes, int at) {
    return bytes.getShort(at) & 0xFFFF;
  }

  private static String text(ByteBuffer from, int count) {
    byte[] bytes = new byte[count];
    from.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Returns the name of a member for messages. */
  static String member(String name) {
    return "member " + Excerpt.of(name.replaceAll("\\.npy$", ""));
  }

  private FormatException damaged(String name, String problem) {
    return FormatException.of(
        file.path(),
        member(name),
        "damaged: %s: write the file again by np.savez".formatted(problem));
  }

  private FormatException noArchive(String problem) {
    return new FormatException(file.path(), "truncated, or not an archive of NumPy: " + problem);
  }
}
