// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.connection;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToIntFunction;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.IOMode;
import org.apache.spark.network.util.TransportConf;

/** The settings {@code spark.ddstore.io.*}, which Spark reads when it opens connections. */
public final class ConnectionSettings {
  private static final int ANY = Integer.MIN_VALUE;
  private static final int NO_MAX = Integer.MAX_VALUE;
  private static final String WHOLE = "a whole number";

  /** Each thread of a data channel or of Netty has a selector, which takes two or three files. */
  private static final int MAX_THREADS = 256;

  private static final String THREADS = WHOLE + " of 0 to " + MAX_THREADS;

  private static final List<Legal> ALL =
      List.of(
          new Legal(
              "mode",
              ConnectionSettings::mode,
              ANY,
              NO_MAX,
              "one of " + Arrays.toString(IOMode.values())),
          new Legal("serverThreads", TransportConf::serverThreads, 0, MAX_THREADS, THREADS),
          new Legal("clientThreads", TransportConf::clientThreads, 0, MAX_THREADS, THREADS),
          new Legal("backLog", TransportConf::backLog, ANY, NO_MAX, WHOLE),
          new Legal("receiveBuffer", TransportConf::receiveBuf, ANY, NO_MAX, WHOLE),
          new Legal("sendBuffer", TransportConf::sendBuf, ANY, NO_MAX, WHOLE),
          new Legal(
              "connectionTimeout",
              TransportConf::connectionTimeoutMs,
              ANY,
              NO_MAX,
              "a time such as 120s"),
          new Legal(
              "connectionCreationTimeout",
              TransportConf::connectionCreationTimeoutMs,
              1,
              NO_MAX,
              "a time of 1s to 24d, such as 20s"));

  private ConnectionSettings() {}

  private record Legal(
      String name, ToIntFunction<TransportConf> reader, int min, int max, String range) {}

  /** A setting with a value outside its range. */
  public record Wrong(String key, String value, String range) {}

  public static List<String> keys() {
    return ALL.stream().map(legal -> WireOptions.IO + legal.name()).toList();
  }

  public static List<Wrong> wrong(SparkConf conf) {
    List<Wrong> wrong = new ArrayList<>();
    for (Legal legal : ALL) {
      String key = WireOptions.IO + legal.name();
      if (conf.contains(key) && !isLegal(legal, key, conf.get(key))) {
        wrong.add(new Wrong(key, conf.get(key), legal.range()));
      }
    }
    return wrong;
  }

  /** Returns whether Spark accepts the value; tested alone, because some are defaults of others. */
  private static boolean isLegal(Legal legal, String key, String value) {
    SparkConf alone = new SparkConf(false).set(key, value);
    try {
      int number = legal.reader().applyAsInt(WireOptions.of(alone, null, "").transportConf());
      return number >= legal.min() && number <= legal.max();
    } catch (IllegalArgumentException e) { // includes NumberFormatException
      return false;
    }
  }

  private static int mode(TransportConf conf) {
    return IOMode.valueOf(conf.ioMode()).name().length();
  }
}
