// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.report;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.backend.TransportBackend;
import org.ddstore.spark.backend.TransportBackends;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.types.OptionKeys;
import org.ddstore.transport.Availability;
import org.ddstore.types.DDStoreException;
import scala.Tuple2;

/**
 * The availability of one transport in a process.
 *
 * @param available whether the process can use it
 * @param detail device or memory that it uses; if unavailable, the reason and the remedy
 */
public record TransportReport(String name, boolean available, String detail)
    implements Serializable {
  static List<TransportReport> all(Path sharedMemory) {
    List<TransportReport> reports = new ArrayList<>();
    reports.add(of("own process", Availability.available("memory of this JVM")));
    reports.add(of("same host", sameHost(sharedMemory)));
    for (TransportBackend backend : TransportBackends.all()) {
      reports.add(of(backend.name(), availability(backend)));
    }
    return reports;
  }

  /** Checks a transport, with the settings and address of this process if it runs in Spark. */
  private static Availability availability(TransportBackend backend) {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      return backend.availability();
    }
    Map<String, String> conf = new HashMap<>();
    for (Tuple2<String, String> entry : env.conf().getAll()) {
      conf.put(entry._1(), entry._2());
    }
    try {
      return backend.availability(conf, env.blockManager().blockManagerId().host());
    } catch (IllegalArgumentException e) {
      return Availability.unavailable(e.getMessage());
    }
  }

  private static TransportReport of(String name, Availability availability) {
    return new TransportReport(name, availability.isAvailable(), availability.detail());
  }

  /** Checks shared memory: creates a directory for segments like a store, and deletes it. */
  private static Availability sameHost(Path sharedMemory) {
    try {
      ProcessDirectory directory = ProcessDirectory.acquire(sharedMemory);
      try {
        return Availability.available(
            "shared memory in %s, %s free"
                .formatted(
                    sharedMemory,
                    ByteSize.format(Files.getFileStore(directory.path()).getUsableSpace())));
      } finally {
        directory.release();
      }
    } catch (DDStoreException | IOException e) {
      return Availability.unavailable(
          "%s; set %s to another directory"
              .formatted(e.getMessage(), OptionKeys.SETTING_DIRECTORY));
    }
  }
}
