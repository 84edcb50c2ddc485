// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.report;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.package$;
import org.ddstore.memory.Devices;
import org.ddstore.nativeio.NativeLibrary;
import org.ddstore.read.GatherKernels;
import org.ddstore.spark.cluster.HostProbe;
import org.ddstore.spark.types.HostFacts;

/** The report of one executor: its host, its software versions and its transports. */
public final class ExecutorReport implements Serializable {
  private static final long serialVersionUID = 1L;

  private final HostFacts host;
  private final ArrayList<TransportReport> transports;
  private final String sparkVersion;
  private final String scalaVersion;
  private final String nativeLibrary;
  private final String gatherKernel;
  private final String devices;
  private final int executorsUnderLimit;
  private final ArrayList<KeptMemory> keptMemory;

  private ExecutorReport(
      HostFacts host, List<TransportReport> transports, String sparkVersion, String scalaVersion) {
    this.host = host;
    this.transports = new ArrayList<>(transports);
    this.sparkVersion = sparkVersion;
    this.scalaVersion = scalaVersion;
    this.nativeLibrary = NativeLibrary.description();
    this.gatherKernel = GatherKernels.description();
    this.devices = describe(Devices.ofThisProcess());
    this.executorsUnderLimit = HostProbe.executorsUnderLimit(host);
    this.keptMemory = new ArrayList<>(KeptMemory.here());
  }

  static ExecutorReport ofThisProcess(Path sharedMemory) {
    SparkEnv env = SparkEnv.get();
    return new ExecutorReport(
        HostProbe.read(sharedMemory).executorId(env == null ? null : env.executorId()),
        TransportReport.all(sharedMemory),
        package$.MODULE$.SPARK_VERSION(),
        scala.util.Properties$.MODULE$.versionNumberString());
  }

  private static String describe(Devices devices) {
    String hidden =
        devices.hidden().isEmpty() ? "" : " (%s=%s)".formatted(Devices.VISIBLE, devices.hidden());
    return devices.count() == 0
        ? devices.description()
        : "%d by %s%s".formatted(devices.count(), devices.description(), hidden);
  }

  public HostFacts host() {
    return host;
  }

  int executorsUnderLimit() {
    return executorsUnderLimit;
  }

  public List<TransportReport> transports() {
    return Collections.unmodifiableList(transports);
  }

  public String sparkVersion() {
    return sparkVersion;
  }

  public String scalaVersion() {
    return scalaVersion;
  }

  /** Describes the loaded native library, or the reason why it is not loaded and the remedy. */
  public String nativeLibrary() {
    return nativeLibrary;
  }

  /** Returns the implementation that copies rows: {@code native (..)} or {@code java (..)}. */
  public String gatherKernel() {
    return gatherKernel;
  }

  /** Returns the memory of deleted segments that processes of this host still map. */
  public List<KeptMemory> keptMemory() {
    return Collections.unmodifiableList(keptMemory);
  }

  /** Returns the number of accelerators with their driver, or the reason why there is none. */
  public String devices() {
    return devices;
  }
}
