// SPDX-License-Identifier: Apache-2.0
/** Batches on a device: entry point {@link org.ddstore.device.DeviceLoader}. */
package org.ddstore.device;
