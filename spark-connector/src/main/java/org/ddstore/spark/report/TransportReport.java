package org.ddstore.spark.report;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.apache.spark.SparkEnv;
import org.ddstore.memory.ProcessDirectory;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.config.Settings;
import org.ddstore.transport.Availability;
import org.ddstore.transport.OneSidedChoice;
import org.ddstore.transport.OneSidedProvider;
import org.ddstore.transport.TransportProvider;
import org.ddstore.types.DDStoreException;
import scala.Tuple2;

/**
 * The availability of one transport in a process.
 *
 * @param name name of the transport
 * @param available whether the process can use it
 * @param detail device or memory that it uses; if unavailable, the reason and the remedy
 */
public record TransportReport(String name, boolean available, String detail)
    implements Serializable {
  private static final List<String> REMOTE = List.of("tcp", "fabric", "mpi");

  /** Checks all transports in this process. */
  static List<TransportReport> all(Path sharedMemory) {
    List<TransportReport> reports = new ArrayList<>();
    reports.add(of("own process", Availability.available("memory of this JVM")));
    reports.add(of("same host", sameHost(sharedMemory)));
    List<TransportProvider> providers = providers();
    for (String name : REMOTE) {
      Optional<TransportProvider> provider =
          providers.stream().filter(found -> found.name().equals(name)).findAny();
      reports.add(
          of(
              name,
              provider
                  .map(TransportReport::availability)
                  .orElse(Availability.unavailable("not part of this build"))));
    }
    return reports;
  }

  /** Checks a transport, with the settings and address of this process if it runs in Spark. */
  private static Availability availability(TransportProvider provider) {
    SparkEnv env = SparkEnv.get();
    if (env == null || !(provider instanceof OneSidedProvider oneSided)) {
      return provider.availability();
    }
    Map<String, String> conf = new HashMap<>();
    for (Tuple2<String, String> entry : env.conf().getAll()) {
      conf.put(entry._1(), entry._2());
    }
    try {
      String host = env.blockManager().blockManagerId().host();
      OneSidedChoice choice = oneSided.choose(Settings.of(conf).oneSidedOptions(host, 0));
      return new Availability(choice.isAvailable(), choice.detail());
    } catch (IllegalArgumentException e) {
      return Availability.unavailable(e.getMessage());
    }
  }

  private static List<TransportProvider> providers() {
    return ServiceLoader.load(TransportProvider.class, TransportProvider.class.getClassLoader())
        .stream()
        .map(ServiceLoader.Provider::get)
        .toList();
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
          "%s; set spark.ddstore.directory to another directory".formatted(e.getMessage()));
    }
  }
}
