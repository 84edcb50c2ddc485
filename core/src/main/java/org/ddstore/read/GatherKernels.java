// SPDX-License-Identifier: Apache-2.0
package org.ddstore.read;

import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.ddstore.transport.Availability;

/** The gather kernel of this process, selected once. */
public final class GatherKernels {
  /** The property that disables all native code of rows if set to {@code java}. */
  public static final String PROPERTY = "ddstore.kernel";

  private static final GatherKernel KERNEL;
  private static final Availability AVAILABILITY;

  static {
    GatherKernel kernel = null;
    Availability availability;
    try {
      GatherKernel.Provider provider = provider();
      availability = availability(provider);
      kernel = availability.isAvailable() ? provider.kernel() : null;
    } catch (ServiceConfigurationError e) {
      availability = Availability.unavailable(e.toString());
    }
    KERNEL = kernel;
    AVAILABILITY = availability;
  }

  private GatherKernels() {}

  private static GatherKernel.Provider provider() {
    return ServiceLoader.load(GatherKernel.Provider.class, GatherKernel.class.getClassLoader())
        .findFirst()
        .orElse(null);
  }

  private static Availability availability(GatherKernel.Provider provider) {
    String setting = System.getProperty(PROPERTY, "native");
    if (setting.equals("java")) {
      return Availability.unavailable("-D%s=java".formatted(PROPERTY));
    }
    if (!setting.equals("native")) {
      return Availability.unavailable(
          "-D%s=%s is neither native nor java".formatted(PROPERTY, setting));
    }
    return provider == null
        ? Availability.unavailable("the module ddstore-native is not on the class path")
        : provider.availability();
  }

  /** Returns the kernel; null if rows are copied by loops over buffers. */
  public static GatherKernel current() {
    return KERNEL;
  }

  /** Returns the kind of kernel and the reason: {@code native (..)} or {@code java (..)}. */
  public static String description() {
    return (KERNEL == null ? "java (" : "native (") + AVAILABILITY.detail() + ")";
  }
}
