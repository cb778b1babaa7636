"""A logind for the tests: python3-dbusmock's template on a private bus, told by lines what to do.

    logind-double.py COMMANDS LOG

COMMANDS is a named pipe; what happens is appended to LOG, a line each. The bus is the one of $DBUS_SYSTEM_BUS_ADDRESS.
"""

import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
import dbusmock
from dbusmock import mockobject
from gi.repository import GLib

NAME = "org.freedesktop.login1"
PATH = "/org/freedesktop/login1"
MANAGER = NAME + ".Manager"
SESSION = PATH + "/session/c1"

log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC)


def tell(line):
    os.write(log, (line + "\n").encode())


class Inhibitors(list):
    """What the template keeps its inhibitors in; it says when one comes or goes."""

    def append(self, inhibitor):
        super().append(inhibitor)
        tell("inhibitor taken: " + " ".join(str(field) for field in (inhibitor[0], inhibitor[3])))

    def remove(self, inhibitor):
        super().remove(inhibitor)
        tell("inhibitor released, open: %d" % len(self))


mockobject.inhibitors = Inhibitors()
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
bus_name = dbus.service.BusName(NAME, bus, do_not_queue=True)
manager = mockobject.DBusMockObject(bus_name, PATH, MANAGER, {}, os.devnull, False)
mockobject.objects[PATH] = manager
manager.AddTemplate("logind", {})


def emit(signal, is_beginning):
    # Asked before any client can have heard of it.
    tell("%s %s, open: %d" % (signal, is_beginning, len(manager.ListInhibitors())))
    manager.EmitSignal(MANAGER, signal, "b", [is_beginning])


def perform(command, *arguments):
    session = mockobject.objects.get(SESSION)
    if command == "delay":
        manager.AddProperty(MANAGER, "InhibitDelayMaxUSec", dbus.UInt64(int(arguments[0])))
    elif command == "session":
        manager.AddSession("c1", "seat0", 1000, "user", True)
        manager.AddMethod(MANAGER, "GetSession", "s", "o", 'ret = "%s"' % SESSION)
    elif command == "no-session":
        code = 'raise dbus.exceptions.DBusException("no session", name="org.freedesktop.login1.NoSessionForPID")'
        manager.AddMethod(MANAGER, "GetSession", "s", "o", code)
    elif command == "refuse":
        code = 'import os; os.write(%d, b"inhibitor refused\\n"); ' % log
        code += 'raise dbus.exceptions.DBusException("no", name="org.freedesktop.DBus.Error.AccessDenied")'
        manager.AddMethod(MANAGER, "Inhibit", "ssss", "h", code)
    elif command == "sleep":
        emit("PrepareForSleep", True)
    elif command == "wake":
        emit("PrepareForSleep", False)
    elif command == "shutdown":
        emit("PrepareForShutdown", True)
    elif command == "lock":
        session.EmitSignal("", "Lock", "", [])
    elif command == "unlock":
        session.EmitSignal("", "Unlock", "", [])
    elif command == "hint":
        session.UpdateProperties(NAME + ".Session", {"LockedHint": dbus.Boolean(arguments[0] == "true")})
    elif command == "ask":
        tell("open: %d" % len(manager.ListInhibitors()))
    elif command == "leave":
        bus.release_name(NAME)
    elif command == "come":
        bus.request_name(NAME)
    tell("done " + command)


def read_commands(source, condition):
    for line in os.read(source, 4096).decode().splitlines():
        perform(*line.split())
    return True


commands = os.open(sys.argv[1], os.O_RDWR | os.O_CLOEXEC)
GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, commands, GLib.IO_IN, read_commands)
tell("ready")
GLib.MainLoop().run()
