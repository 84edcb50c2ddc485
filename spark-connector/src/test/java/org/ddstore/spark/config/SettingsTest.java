// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.ddstore.StoreOptions;
import org.ddstore.spark.TestCluster;
import org.ddstore.spark.resident.StoreOwner;
import org.ddstore.types.Backing;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
  private static final Settings DEFAULTS = Settings.of(Map.of());

  @Test
  void emptyConfigurationGivesTheDefaults() {
    assertThat(DEFAULTS.ranks()).isEmpty();
    assertThat(DEFAULTS.backing()).isEqualTo(Backing.SHM);
    assertThat(DEFAULTS.directory()).isEmpty();
    assertThat(DEFAULTS.segmentDirectory()).contains(Path.of("/dev/shm"));
    assertThat(DEFAULTS.maxAttempts()).isEqualTo(4);
    assertThat(DEFAULTS.collectiveTimeout()).isEqualTo(Duration.ofMinutes(10));
    assertThat(DEFAULTS.closeTimeout()).isEqualTo(Duration.ofSeconds(30));
    assertThat(DEFAULTS.slotsTimeout()).isEqualTo(Duration.ofSeconds(20));
    assertThat(DEFAULTS.checkMemory()).isTrue();
  }

  @Test
  void builderOverridesSessionOverridesApplication() {
    TestCluster.stopOthers();
    SparkSession application =
        SparkSession.builder()
            .master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.ddstore.maxAttempts", "7")
            .config("spark.ddstore.directory", "/mnt/a")
            .config("spark.ddstore.backing", "direct")
            .getOrCreate();
    try {
      SparkSession session = application.newSession();
      session.conf().set("spark.ddstore.directory", "/mnt/b");
      session.conf().set("spark.ddstore.backing", "shm");

      Settings settings =
          Settings.of(session).with(Setting.BACKING, Backing.DIRECT).with(Setting.RANKS, 3);

      assertThat(settings.closeTimeout()).as("default").isEqualTo(Duration.ofSeconds(30));
      assertThat(settings.maxAttempts()).as("application").isEqualTo(7);
      assertThat(settings.directory()).as("session").contains(Path.of("/mnt/b"));
      assertThat(settings.backing()).as("builder").isEqualTo(Backing.DIRECT);
      assertThat(settings.ranks()).as("builder").hasValue(3);
    } finally {
      application.stop();
    }
  }

  @ParameterizedTest
  @CsvSource({"500ms, 500", "30s, 30000", "30, 30000", "2min, 120000", "' 1h ', 3600000"})
  void parsesTimesInUnitsOfSpark(String text, long milliseconds) {
    assertThat(Settings.of(Map.of("spark.ddstore.closeTimeout", text)).closeTimeout())
        .hasMillis(milliseconds);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ranks             | 0        | 1 to 16,384",
        "ranks             | many     | 1 to 16,384",
        "maxAttempts       | 1001     | 1 to 1,000",
        "backing           | ssd      | shm, file, direct",
        "directory         | here     | an absolute path",
        "closeTimeout      | 0s       | a time such as",
        "finishTimeout     | 366d     | a time such as",
        "collectiveTimeout | 5parsecs | a time such as",
        "slotsTimeout      | ''       | a time such as"
      })
  void rejectsAValueOutsideItsRange(String name, String value, String range) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Settings.of(Map.of("spark.ddstore." + name, value)))
        .withMessageStartingWith(
            "setting spark.ddstore." + name + " is \"" + value + "\", legal: " + range);
  }

  @Test
  void builderValuesHaveTheSameRanges() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.with(Setting.RANKS, 0))
        .withMessage("setting spark.ddstore.ranks is \"0\", legal: 1 to 16,384");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.with(Setting.CLOSE_TIMEOUT, Duration.ZERO))
        .withMessageStartingWith("setting spark.ddstore.closeTimeout is \"0ms\"");
  }

  @Test
  void suggestsTheNearestSettingForAnUnknownName() {
    Map<String, String> configuration =
        Map.of("spark.ddstore.rank", "2", "spark.ddstore.ranks", "2", "spark.app.name", "x");

    assertThat(Settings.unknown(configuration))
        .containsExactly(
            "setting spark.ddstore.rank is unknown and has no effect; the nearest is"
                + " spark.ddstore.ranks");
  }

  @Test
  void storeOptionsFollowBackingAndDirectory() {
    Path disk = Path.of("/data");
    Settings files = DEFAULTS.with(Setting.BACKING, Backing.FILE);

    assertThat(files.with(Setting.DIRECTORY, disk).storeOptions().directory()).isEqualTo(disk);
    assertThat(DEFAULTS.with(Setting.DIRECTORY, disk).storeOptions().backing())
        .isEqualTo(Backing.SHM);
    assertThat(DEFAULTS.with(Setting.DIRECTORY, disk).storeOptions().directory()).isEqualTo(disk);
    assertThat(DEFAULTS.with(Setting.BACKING, Backing.DIRECT).segmentDirectory()).isEmpty();
    assertThat(DEFAULTS.storeOptions()).hasToString(StoreOptions.defaults().toString());
    assertThatIllegalArgumentException()
        .isThrownBy(files::storeOptions)
        .withMessage("spark.ddstore.backing=file needs spark.ddstore.directory");
  }

  @Test
  void isSerializable() throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(DEFAULTS.with(Setting.RANKS, 5));
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat(((Settings) in.readObject()).ranks()).hasValue(5);
    }
  }

  @Test
  void readsTheOwnerCheckFromTheApplication() {
    SparkConf application = new SparkConf(false);
    assertThat(StoreOwner.isChecked(application)).isTrue();
    assertThat(StoreOwner.isChecked(application.set("spark.ddstore.ownerCheck", "false")))
        .isFalse();
    assertThatThrownBy(
            () -> StoreOwner.isChecked(application.set("spark.ddstore.ownerCheck", "no")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("spark.ddstore.ownerCheck is \"no\", legal: true, false");
  }

  /** To update the page, copy the file that the message names over docs/settings.md. */
  @Test
  void docsListEverySetting() throws IOException {
    Path generated =
        Files.writeString(Path.of("settings.md").toAbsolutePath(), Settings.markdown());
    Path page = Path.of(System.getProperty("ddstore.root"), "docs", "settings.md");

    assertThat(page).as("as generated into %s", generated).hasSameTextualContentAs(generated);
    Files.delete(generated);
  }
}
