/** Value types and exceptions that every other package shares. */
package org.ddstore.types;
