// SPDX-License-Identifier: Apache-2.0
/** The interfaces of a transport, which serves rows to other processes and reads theirs. */
@Internal
package org.ddstore.transport;

import org.ddstore.types.Internal;
