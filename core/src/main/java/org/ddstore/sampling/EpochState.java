// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.ddstore.types.RejectedArgumentException;
import org.ddstore.types.Schema;

/**
 * The position of a rank in an epoch, sufficient to continue with the same batches later,
 * elsewhere, or with another number of ranks. As JSON it has about 100 bytes, with long samplers
 * and many choices about 150:
 *
 * <pre>
 * {"v":2,"e":3,"b":120,"n":20000,"s":"shuffled(42)/512","d":"1f3a9c04.0123456789abcdef","c":"0a1b2c3d"}
 *    |     |     |       |        sampling               schema.digest               checksum
 *    |     epoch batch   rows
 *    version of this format
 * </pre>
 *
 * <p>The checksum is the CRC-32 of the other members, written as here in the order of their names:
 * a state with a changed digit is rejected, a state with other white space or another order of
 * members is not. States of version 1 have no checksum, and are read without this check.
 *
 * <p>If rows were updated since they were loaded, the state has the number of updates: {@code
 * "u":3}. If batches do not have all fields unconverted, it has five digits for each kind of
 * choice: {@code "o":"cZx3_"} for casts, with {@code f} for fields and {@code s} for padding and
 * densifying.
 *
 * @param epoch epoch number, counted from 0
 * @param batch number of completed batches, which is the number of the next one
 * @param rows number of rows of the data set
 * @param version number of updates of rows since they were loaded
 * @param sampling text of {@link BatchSampler#describe}
 * @param schema digest of the data set's schema
 * @param digest digest of the data set's rows, of which the first 16 digits are kept; empty if it
 *     was not computed
 * @param delivery configuration of what is delivered of each sample
 */
public record EpochState(
    long epoch,
    long batch,
    long rows,
    long version,
    String sampling,
    String schema,
    String digest,
    Delivery delivery) {
  private static final long VERSION = 2;
  private static final long VERSION_WITHOUT_CHECKSUM = 1;
  private static final String CHECKSUM = "c";
  private static final int DIGEST_DIGITS = 16;
  private static final char DOT = '.';
  private static final String OTHER_ROWS =
      ": load the rows that the state was saved with, or begin without the state";

  /** Sampler and global batch in the text of {@link Batching#describe}. */
  private static final Pattern GLOBAL_BATCH = Pattern.compile("(.*)/(\\d+)( .*)?");

  /**
   * Keeps the first 64 bits of the digest.
   *
   * @param epoch epoch number, counted from 0
   * @param batch number of completed batches, which is the number of the next one
   * @param rows number of rows of the data set
   * @param version number of updates of rows since they were loaded
   * @param sampling text of {@link BatchSampler#describe}
   * @param schema digest of the data set's schema
   * @param digest digest of the data set's rows, of which the first 16 digits are kept; empty if it
   *     was not computed
   * @param delivery configuration of what is delivered of each sample
   */
  public EpochState {
    Objects.requireNonNull(sampling, "sampling is null");
    Objects.requireNonNull(schema, "schema is null");
    Objects.requireNonNull(digest, "digest is null");
    Objects.requireNonNull(delivery, "delivery is null");
    digest = digest.substring(0, Math.min(DIGEST_DIGITS, digest.length()));
  }

  /** {@return the state as one line of JSON, for {@link #parse}} */
  public String toJson() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("v", VERSION);
    members.put("e", epoch);
    members.put("b", batch);
    members.put("n", rows);
    if (version != 0) {
      members.put("u", version);
    }
    members.put("s", sampling);
    members.put("d", digest.isEmpty() ? schema : schema + DOT + digest);
    if (!delivery.equals(Delivery.PLAIN)) {
      members.put("o", delivery.toText());
    }
    members.put(CHECKSUM, checksum(members));
    return FlatJson.write(members);
  }

  /** Returns eight hexadecimal digits for all members except the checksum itself. */
  private static String checksum(Map<String, Object> members) {
    Map<String, Object> sorted = new TreeMap<>(members);
    sorted.remove(CHECKSUM);
    CRC32 crc = new CRC32();
    crc.update(FlatJson.write(sorted).getBytes(StandardCharsets.UTF_8));
    return "%08x".formatted(crc.getValue());
  }

  /** Rejects a state of another version, or one that was changed after it was written. */
  private static void checkWhole(Map<String, Object> members, String json) {
    Object version = members.get("v");
    boolean hasNoChecksum = Objects.equals(version, VERSION_WITHOUT_CHECKSUM);
    if (!hasNoChecksum && !Objects.equals(version, VERSION)) {
      throw new IllegalArgumentException(
          "state version %s is not supported, expected %d or %d: %s"
              .formatted(version, VERSION_WITHOUT_CHECKSUM, VERSION, json));
    }
    Object stored = members.get(CHECKSUM);
    String computed = checksum(members);
    if (!(hasNoChecksum && stored == null) && !computed.equals(stored)) {
      throw new IllegalArgumentException(
          "the state was changed after it was saved: its checksum is %s, its content has %s: restore an unchanged copy, or begin the epoch again: %s"
              .formatted(stored == null ? "missing" : stored, computed, json));
    }
  }

  /**
   * Parses a text of {@link #toJson()}.
   *
   * @param json text of a state
   * @return the state
   * @throws IllegalArgumentException if it is not a state, has another version, or was changed
   *     since
   */
  public static EpochState parse(String json) {
    Objects.requireNonNull(json, "json is null");
    Map<String, Object> members = FlatJson.read(json);
    checkWhole(members, json);
    String data = member(members, "d", String.class, json);
    int dot = data.indexOf(DOT);
    EpochState state =
        new EpochState(
            member(members, "e", Long.class, json),
            member(members, "b", Long.class, json),
            member(members, "n", Long.class, json),
            members.containsKey("u") ? member(members, "u", Long.class, json) : 0,
            member(members, "s", String.class, json),
            dot < 0 ? data : data.substring(0, dot),
            dot < 0 ? "" : data.substring(dot + 1),
            members.containsKey("o")
                ? Delivery.parse(member(members, "o", String.class, json))
                : Delivery.PLAIN);
    if (state.epoch < 0 || state.batch < 0) {
      throw new IllegalArgumentException("negative epoch or batch in the state " + json);
    }
    return state;
  }

  private static <T> T member(
      Map<String, Object> members, String name, Class<T> type, String json) {
    Object value = members.get(name);
    if (!type.isInstance(value)) {
      throw new IllegalArgumentException(
          "\"%s\" is %s, not a %s, in the state %s"
              .formatted(name, value, type == Long.class ? "number" : "text", json));
    }
    return type.cast(value);
  }

  /**
   * Returns the digest of a schema, as states have it.
   *
   * @param schema fields of a record
   * @return 8 hexadecimal digits
   */
  public static String digestOf(Schema schema) {
    Objects.requireNonNull(schema, "schema is null");
    CRC32 crc = new CRC32();
    crc.update(schema.toBytes());
    return "%08x".formatted(crc.getValue());
  }

  /**
   * Rejects a state of other data or of another configuration. A state with a digest of the rows is
   * resumed only where the digest is known.
   *
   * @param here state of the loader that resumes
   * @throws RejectedArgumentException if they differ; the message names the differences
   */
  public void checkSame(EpochState here) {
    Objects.requireNonNull(here, "here is null");
    List<String> differences = new ArrayList<>();
    compare(differences, "number of rows", rows, here.rows, OTHER_ROWS);
    compare(differences, "number of updates", version, here.version);
    compare(differences, "schema", schema, here.schema);
    if (!digest.isEmpty()) { // without a digest in the state, one here is not compared
      String own = here.digest.isEmpty() ? "not known" : here.digest;
      compare(differences, "digest of the rows", digest, own);
    }
    compare(differences, "sampling", sampling, here.sampling, remedy(here));
    Delivery other = here.delivery;
    compareChoice(differences, "choice of fields", delivery.fields(), other.fields(), "all");
    compareChoice(differences, "choice of casts", delivery.casts(), other.casts(), "none");
    compareChoice(
        differences, "choice of padding and densifying", delivery.shapes(), other.shapes(), "none");
    if (!differences.isEmpty()) {
      throw new RejectedArgumentException("state mismatch: " + String.join("; ", differences));
    }
  }

  /** Returns the remedy if only the size of the global batches differs; otherwise nothing. */
  private String remedy(EpochState here) {
    Matcher saved = GLOBAL_BATCH.matcher(sampling);
    Matcher own = GLOBAL_BATCH.matcher(here.sampling);
    if (!saved.matches()
        || !own.matches()
        || !saved.group(1).equals(own.group(1))
        || saved.group(2).equals(own.group(2))
        || !Objects.equals(saved.group(3), own.group(3))) {
      return "";
    }
    return saved.group(1).contains("costAware(")
        ? ": costAware makes one batch per rank by default: use batchesPerStep(%s), which resumes on other numbers of ranks"
            .formatted(saved.group(2))
        : ": a global batch has %s samples in the state, %s here: use globalBatchSize(%s), or resume a sampler with batchSize on the same number of ranks"
            .formatted(saved.group(2), own.group(2), saved.group(2));
  }

  private static void compareChoice(
      List<String> differences,
      String what,
      Delivery.Choice saved,
      Delivery.Choice here,
      String plain) {
    if (!saved.equals(here)) {
      compare(differences, what, saved.isPlain() ? plain : saved, here.isPlain() ? plain : here);
    }
  }

  private static void compare(List<String> differences, String what, Object saved, Object here) {
    compare(differences, what, saved, here, "");
  }

  private static void compare(
      List<String> differences, String what, Object saved, Object here, String remedy) {
    if (!saved.equals(here)) {
      differences.add("%s is %s in the state, %s here%s".formatted(what, saved, here, remedy));
    }
  }
}
