// SPDX-License-Identifier: Apache-2.0
package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.Map;
import org.ddstore.types.RejectedArgumentException;
import org.junit.jupiter.api.Test;

class EpochStateTest {
  private static final String CAST = "1aO-";

  private static final String DIGEST = "0123456789abcdeffedcba9876543210";
  private static final EpochState STATE =
      new EpochState(
          3,
          120,
          20_000,
          0,
          Samplers.shuffled(42).globalBatchSize(512).describe(2),
          "1f3a9c04",
          DIGEST,
          Delivery.PLAIN);

  @Test
  void serializesAsOneShortLineOfJson() {
    assertThat(STATE.toJson())
        .isEqualTo(
            "{\"v\":2,\"e\":3,\"b\":120,\"n\":20000,\"s\":\"shuffled(42)/512\","
                + "\"d\":\"1f3a9c04.0123456789abcdef\",\"c\":\"6dc4a378\"}");
    assertThat(EpochState.parse(STATE.toJson())).isEqualTo(STATE);
    assertThat(EpochState.parse("\n" + STATE.toJson().replace(",", " ,\t")).rows())
        .isEqualTo(20_000);
  }

  @Test
  void includesTheNumberOfUpdatesIfAny() {
    EpochState updated = new EpochState(0, 1, 7, 3, "sequential/2", "1f3a9c04", "", Delivery.PLAIN);
    assertThat(updated.toJson())
        .isEqualTo(
            "{\"v\":2,\"e\":0,\"b\":1,\"n\":7,\"u\":3,\"s\":\"sequential/2\",\"d\":\"1f3a9c04\","
                + "\"c\":\"9d7cd717\"}");
    assertThat(EpochState.parse(updated.toJson())).isEqualTo(updated);
  }

  private static EpochState of(Delivery delivery) {
    return new EpochState(
        3, 120, 20_000, 0, STATE.sampling(), STATE.schema(), STATE.digest(), delivery);
  }

  @Test
  void includesTheDeliveryUnlessItIsPlain() {
    List<String> some = List.of("image", "label");
    List<String> cast = List.of("cast(\"image\", FLOAT32, 0.003921569)");
    EpochState casts = of(Delivery.of(List.of(), cast, List.of()));
    assertThat(casts.toJson())
        .startsWith(content(STATE.toJson()) + ",\"o\":\"c%s\",\"c\":\"".formatted(CAST))
        .hasSizeLessThan(115);
    assertThat(Delivery.of(List.of("label", "image"), cast, List.of()))
        .as("in another order")
        .isEqualTo(Delivery.of(some, cast, List.of()));
    for (Delivery delivery :
        List.of(
            Delivery.PLAIN,
            Delivery.of(some, List.of(), List.of()),
            Delivery.of(some, cast, List.of()),
            Delivery.of(List.of(), List.of(), cast),
            Delivery.of(some, cast, cast))) {
      assertThat(EpochState.parse(of(delivery).toJson())).isEqualTo(of(delivery));
    }
    for (String wrong : List.of("x", "c", "cabc", "cabcde", "cabcdfabcd", "cabcd.")) {
      refused(
          first(casts.toJson()).replace("c" + CAST, wrong),
          "\"%s\" is not a valid delivery".formatted(wrong));
    }
  }

  @Test
  void namesTheDeliveryChoiceThatDiffers() {
    EpochState here = of(Delivery.of(List.of("a"), List.of(), List.of("pad")));
    EpochState saved = of(Delivery.of(List.of("a", "b"), List.of("cast"), List.of("pad")));
    EpochState there = EpochState.parse(saved.toJson()); // its words are not kept
    assertThatThrownBy(() -> there.checkSame(here))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "state mismatch: choice of fields is %s in the state, [a] (%s) here; choice of casts is %s in the state, none here",
            saved.delivery().fields().digest(),
            here.delivery().fields().digest(),
            saved.delivery().casts().digest());
    assertThatThrownBy(() -> STATE.checkSame(here))
        .hasMessage(
            "state mismatch: choice of fields is all in the state, [a] (%s) here; choice of padding and densifying is none in the state, [pad] (%s) here",
            here.delivery().fields().digest(), here.delivery().shapes().digest());
    here.checkSame(here);
  }

  @Test
  void stateIsShorterThan145Bytes() {
    assertThat(bytes(Samplers.sequential().globalBatchSize(8192))).isLessThan(115);
    assertThat(bytes(Samplers.shuffled(42).globalBatchSize(8192))).isLessThan(115);
    for (BatchSampler sampler :
        List.of(
            Samplers.chunked(42, 1024, 256).globalBatchSize(8192),
            Samplers.windows(16, 4, 2, Samplers.shuffled(42)).globalBatchSize(8192).everySample(),
            Samplers.weighted(42, 100_000_000, 1, 2).globalBatchSize(8192),
            Samplers.weightedWithoutReplacement(42, 2, 1, 2).globalBatchSize(8192).evaluation(),
            Samplers.classBalanced(42, 0, 1).withReplacement(100_000_000).batchSize(128),
            Samplers.costAware(42, 1 << 20, 1, 2))) {
      assertThat(bytes(sampler)).as(sampler.describe(64)).isLessThan(145);
      RowSubset subset = RowSubset.mask(true, true);
      assertThat(bytes(sampler.within(subset))).as("within").isLessThan(165);
    }
  }

  private static int bytes(BatchSampler sampler) {
    return new EpochState(
            99, 99_999, 100_000_000, 0, sampler.describe(64), "1f3a9c04", DIGEST, Delivery.PLAIN)
        .toJson()
        .length();
  }

  @Test
  void namesTheDifferences() {
    EpochState other =
        new EpochState(
            0,
            0,
            20_001,
            2,
            Samplers.shuffled(43).batchSize(128).describe(2),
            "00000000",
            "cd",
            Delivery.PLAIN);
    assertThatThrownBy(() -> STATE.checkSame(other))
        .isInstanceOf(RejectedArgumentException.class)
        .hasMessage(
            "state mismatch: number of rows is 20000 in the state, 20001 here:"
                + " load the rows that the state was saved with, or begin without the state;"
                + " number of updates is 0 in the state, 2 here;"
                + " schema is 1f3a9c04 in the state, 00000000 here;"
                + " digest of the rows is 0123456789abcdef in the state, cd here;"
                + " sampling is shuffled(42)/512 in the state, shuffled(43)/256 here");
  }

  private static EpochState of(String sampling) {
    return new EpochState(0, 0, 100, 0, sampling, "00000000", "", Delivery.PLAIN);
  }

  private static String mismatch(String there, String here) {
    return catchThrowable(() -> of(there).checkSame(of(here))).getMessage();
  }

  @Test
  void namesTheRemedyIfOnlyTheNumberOfRanksDiffers() {
    BatchSampler shuffled = Samplers.shuffled(1).batchSize(64);
    assertThat(mismatch(shuffled.describe(4), shuffled.describe(2)))
        .isEqualTo(
            "state mismatch: sampling is shuffled(1)/256 in the state, shuffled(1)/128 here:"
                + " a global batch has 256 samples in the state, 128 here: use"
                + " globalBatchSize(256), or resume a sampler with batchSize on the same number of"
                + " ranks");
    BatchSampler packed = Samplers.costAware(1, 9, 1, 2);
    assertThat(mismatch(packed.describe(2), packed.describe(4)))
        .contains("use batchesPerStep(2)")
        .doesNotContain("globalBatchSize");
    assertThat(
            mismatch(
                Samplers.sequential().globalBatchSize(64).describe(2),
                Samplers.sequential().globalBatchSize(64).everySample().describe(2)))
        .endsWith("here")
        .doesNotContain("batchSize");
  }

  @Test
  void comparesADigestOnlyIfTheStateHasOne() {
    EpochState without =
        new EpochState(0, 0, 20_000, 0, STATE.sampling(), STATE.schema(), "", Delivery.PLAIN);
    assertThatThrownBy(() -> STATE.checkSame(without))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "state mismatch:"
                + " digest of the rows is 0123456789abcdef in the state, not known here");
    without.checkSame(STATE);
    without.checkSame(without);
    STATE.checkSame(STATE);
  }

  @Test
  void rejectsOtherVersionsAndMalformedText() {
    refused(
        STATE.toJson().replace("\"v\":2", "\"v\":3"),
        "state version 3 is not supported, expected 1 or 2");
    refused("{}", "state version null is not supported");
    String first = first(STATE.toJson());
    refused(first.replace("120", "\"x\""), "\"b\" is x, not a number, in the state");
    refused(first.replace(":3,", ":-3,"), "negative epoch or batch");
    String json = STATE.toJson();
    for (int end = 0; end < json.length(); end++) {
      refused(json.substring(0, end), "");
    }
    refused(json + "x", "not a JSON object");
    refused("[1]", "not a JSON object");
    refused(json + "\0x", "not a JSON object");
    refused("{\"a\":\"\\x0041\"}", "not a JSON object");
    refused("{\"a\":\"\\u+041\"}", "not a JSON object");
  }

  /** States outlive programs: those that were saved before there were checksums can be read. */
  @Test
  void readsVersion1WithoutAChecksum() {
    assertThat(EpochState.parse(first(STATE.toJson()))).isEqualTo(STATE);
  }

  @Test
  void rejectsAChangedState() {
    String json = STATE.toJson();
    int changes = 0;
    for (int at = 0; at < json.length(); at++) {
      for (char digit = '0'; digit <= '9'; digit++) {
        if (Character.isDigit(json.charAt(at)) && json.charAt(at) != digit) {
          String changed = json.substring(0, at) + digit + json.substring(at + 1);
          refused(changed, changed.startsWith("{\"v\":2") ? "changed after it was saved" : "");
          changes++;
        }
      }
    }
    assertThat(changes).isGreaterThan(9 * 20);
    refused(json.replace("\"b\":120", "\"b\":121"), "begin the epoch again");
    refused(content(json) + "}", "its checksum is missing, its content has ");
    refused(json.replace("\"v\":2", "\"v\":1"), "changed after it was saved");
  }

  @Test
  void acceptsMembersInAnyOrder() {
    String json = STATE.toJson();
    assertThat(EpochState.parse(json.replace("\"e\":3,\"b\":120", "\"b\":120, \"e\":3")))
        .isEqualTo(STATE);
  }

  private static String content(String json) {
    return json.substring(0, json.indexOf(",\"c\":\""));
  }

  private static String first(String json) {
    return content(json).replace("\"v\":2", "\"v\":1") + "}";
  }

  private static void refused(String json, String message) {
    assertThatThrownBy(() -> EpochState.parse(json))
        .as(json)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void jsonPreservesAnyText() {
    Map<String, Object> members =
        Map.of("a\"\\/\b\f\n\r\t\u0001ü", "\"\\\u0000日😀 {},:", "n", Long.MIN_VALUE);
    assertThat(FlatJson.read(FlatJson.write(members))).isEqualTo(members);
    assertThat(FlatJson.read("{\"a\":\"\\u0041\\n\\/\"}")).isEqualTo(Map.of("a", "A\n/"));
  }

  @Test
  void describesDifferentConfigurationsDifferently() {
    Batching slices = Samplers.chunked(1, 64, 32).globalBatchSize(128);
    assertThat(
            new String[] {
              slices.describe(2),
              slices.evaluation().describe(2),
              slices.everySample().describe(2),
              slices.distribution(Distribution.STRIDED).describe(2),
              slices.distribution(Distribution.CONTIGUOUS).describe(2),
              slices.distribution(Distribution.CONTIGUOUS).describe(4),
              Samplers.chunked(1, 32, 64).globalBatchSize(128).describe(2),
              Samplers.chunked(1, 64, 32).globalBatchSize(64).describe(2),
              Samplers.weighted(1, 9, 1, 2).globalBatchSize(128).describe(2),
              Samplers.weighted(1, 9, 2, 1).globalBatchSize(128).describe(2),
              Samplers.classBalanced(1, 0, 1).globalBatchSize(128).describe(2),
              Samplers.classBalanced(1, 1, 0).globalBatchSize(128).describe(2),
              Samplers.costAware(1, 9, 1, 2).describe(2),
              Samplers.costAware(1, 9, 1, 2).describe(3),
              Samplers.costAware(1, 9, 2, 1).describe(2),
              Samplers.costAware(1, 9, 2, 1).within(RowSubset.range(0, 1)).describe(2),
              slices.within(RowSubset.range(0, 9)).describe(2),
              slices.within(RowSubset.range(1, 9)).describe(2),
            })
        .doesNotHaveDuplicates();
    assertThat(Samplers.shuffled(1).batchSize(64).describe(4))
        .isEqualTo(Samplers.shuffled(1).globalBatchSize(256).describe(2));
  }
}
