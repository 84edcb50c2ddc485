package org.ddstore.spark.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.TransportConf;

/** The settings {@code spark.ddstore.io.*}, which Spark reads where a connection is made. */
public final class ConnectionSettings {
  private static final String NUMBER = "a whole number of at least ";
  private static final String TIME = "a time such as 20s, in milliseconds at least ";

  private static final List<Legal> ALL =
      List.of(
          new Legal("serverThreads", TransportConf::serverThreads, 0, NUMBER),
          new Legal("clientThreads", TransportConf::clientThreads, 0, NUMBER),
          new Legal("numConnectionsPerPeer", TransportConf::numConnectionsPerPeer, 1, NUMBER),
          new Legal("backLog", TransportConf::backLog, -1, NUMBER),
          new Legal("receiveBuffer", TransportConf::receiveBuf, -1, NUMBER),
          new Legal("sendBuffer", TransportConf::sendBuf, -1, NUMBER),
          new Legal("connectionTimeout", TransportConf::connectionTimeoutMs, 1, TIME),
          new Legal(
              "connectionCreationTimeout", TransportConf::connectionCreationTimeoutMs, 1, TIME));

  private ConnectionSettings() {}

  private record Legal(String name, ToIntFunction<TransportConf> reader, int least, String range) {}

  /** A setting whose value is not in its range. */
  public record Wrong(String key, String value, String range) {}

  /** Those that are set and cannot be used. */
  public static List<Wrong> wrong(SparkConf conf) {
    TransportConf transport = WireOptions.of(conf, null, "").transportConf();
    List<Wrong> wrong = new ArrayList<>();
    for (Legal legal : ALL) {
      String key = WireOptions.IO + legal.name();
      if (conf.contains(key) && !isLegal(legal, transport)) {
        wrong.add(new Wrong(key, conf.get(key), legal.range() + legal.least()));
      }
    }
    return wrong;
  }

  private static boolean isLegal(Legal legal, TransportConf transport) {
    try {
      return legal.reader().applyAsInt(transport) >= legal.least();
    } catch (IllegalArgumentException e) { // which a NumberFormatException is
      return false;
    }
  }
}
