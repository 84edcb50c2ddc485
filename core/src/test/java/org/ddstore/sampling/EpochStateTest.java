package org.ddstore.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class EpochStateTest {
  private static final EpochState STATE =
      new EpochState(
          3, 120, 20_000, Samplers.shuffled(42).globalBatchSize(512).describe(2), "1f3a9c04", "ab");

  @Test
  void isOneShortLineOfJson() {
    assertThat(STATE.toJson())
        .isEqualTo(
            "{\"v\":1,\"epoch\":3,\"batch\":120,\"rows\":20000,"
                + "\"sampling\":\"shuffled(42) global 512 slices dropped\","
                + "\"schema\":\"1f3a9c04\",\"digest\":\"ab\"}");
    assertThat(EpochState.parse(STATE.toJson())).isEqualTo(STATE);
    assertThat(EpochState.parse("\n" + STATE.toJson().replace(",", " ,\t")).rows())
        .isEqualTo(20_000);
  }

  @Test
  void whatDiffersIsNamed() {
    EpochState other =
        new EpochState(
            0, 0, 20_001, Samplers.shuffled(43).batchSize(128).describe(2), "00000000", "cd");
    assertThatThrownBy(() -> STATE.checkSame(other))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the state is of something else: rows is 20000 in the state, 20001 here;"
                + " schema is 1f3a9c04 in the state, 00000000 here;"
                + " digest of the rows is ab in the state, cd here;"
                + " sampling is shuffled(42) global 512 slices dropped in the state,"
                + " shuffled(43) global 256 slices dropped here;");
  }

  @Test
  void aDigestIsComparedWhereverTheStateHasOne() {
    EpochState without = new EpochState(0, 0, 20_000, STATE.sampling(), STATE.schema(), "");
    assertThatThrownBy(() -> STATE.checkSame(without))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the state is of something else:"
                + " digest of the rows is ab in the state, not known here;");
    without.checkSame(STATE);
    without.checkSame(without);
    STATE.checkSame(STATE);
  }

  @Test
  void otherVersionsAndOtherTextAreRefused() {
    refused(
        STATE.toJson().replace("\"v\":1", "\"v\":2"), "a state of version 2; this program reads 1");
    refused("{}", "a state of version null");
    refused(STATE.toJson().replace("120", "\"x\""), "\"batch\" is x, not a number, in the state");
    refused(STATE.toJson().replace(":3,", ":-3,"), "negative epoch or batch");
    String json = STATE.toJson();
    for (int end = 0; end < json.length(); end++) {
      refused(json.substring(0, end), "");
    }
    refused(json + "x", "no JSON object");
    refused("[1]", "no JSON object");
  }

  private static void refused(String json, String message) {
    assertThatThrownBy(() -> EpochState.parse(json))
        .as(json)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void anyTextSurvivesJson() {
    Map<String, Object> members =
        Map.of("a\"\\/\b\f\n\r\t\u0001ü", "\"\\\u0000日😀 {},:", "n", Long.MIN_VALUE);
    assertThat(FlatJson.read(FlatJson.write(members))).isEqualTo(members);
    assertThat(FlatJson.read("{\"a\":\"\\u0041\\n\\/\"}")).isEqualTo(Map.of("a", "A\n/"));
  }

  @Test
  void configurationsThatGiveOtherBatchesHaveOtherWords() {
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
            })
        .doesNotHaveDuplicates();
    assertThat(Samplers.shuffled(1).batchSize(64).describe(4))
        .isEqualTo(Samplers.shuffled(1).globalBatchSize(256).describe(2));
  }
}
